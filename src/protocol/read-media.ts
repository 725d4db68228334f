/**
 * Images, audio and files inside messages, read by their shape: each provider has its own field names, and none of them
 * means something else at another provider. Pure.
 */
import type { JsonValue } from './history.ts'
import type { Media, MediaKind } from './media.ts'
import { isObject, type JsonObject } from './segment.ts'

/** Null for a block that is no medium. */
export function readMedia(block: JsonValue | undefined): Media | null {
  if (!isObject(block)) return null
  return readAnthropic(block) ?? readOpenAi(block) ?? readGemini(block) ?? readAiSdk(block)
}

function readAnthropic({ type, source }: JsonObject): Media | null {
  if ((type !== 'image' && type !== 'document') || !isObject(source)) return null
  const mimeType = stringOrNull(source.media_type)
  const kind = type === 'image' ? 'image' : 'file'
  if (typeof source.data === 'string' && source.type === 'base64')
    return { kind, mimeType, source: { kind: 'base64', data: source.data } }
  if (typeof source.url === 'string') return { kind, mimeType, source: { kind: 'url', url: source.url } }
  if (typeof source.file_id === 'string') return { kind, mimeType, source: { kind: 'id', id: source.file_id } }
  return null
}

function readOpenAi(block: JsonObject): Media | null {
  const detail = stringOrNull(isObject(block.image_url) ? block.image_url.detail : block.detail)
  const withDetail = (media: Media | null): Media | null =>
    media === null || detail === null ? media : { ...media, detail }
  switch (block.type) {
    case 'image_url':
    case 'input_image':
    case 'computer_screenshot': {
      const url = isObject(block.image_url) ? block.image_url.url : block.image_url
      if (typeof url === 'string') return withDetail(fromUrl(url, 'image'))
      return typeof block.file_id === 'string'
        ? withDetail({ kind: 'image', mimeType: null, source: { kind: 'id', id: block.file_id } })
        : null
    }
    case 'input_audio': {
      const { input_audio: audio } = block
      if (!isObject(audio) || typeof audio.data !== 'string') return null
      const format = stringOrNull(audio.format)
      return {
        kind: 'audio',
        mimeType: format === null ? null : `audio/${format}`,
        source: { kind: 'base64', data: audio.data },
      }
    }
    case 'file':
    case 'input_file': {
      const file = isObject(block.file) ? block.file : block
      if (typeof file.file_data === 'string') return fromUrl(file.file_data, 'file')
      if (typeof file.file_url === 'string') return fromUrl(file.file_url, 'file')
      return typeof file.file_id === 'string'
        ? { kind: 'file', mimeType: null, source: { kind: 'id', id: file.file_id } }
        : null
    }
    default:
      return null
  }
}

function readGemini(block: JsonObject): Media | null {
  const inline = block.inlineData ?? block.inline_data
  if (isObject(inline) && typeof inline.data === 'string') {
    const mimeType = stringOrNull(inline.mimeType ?? inline.mime_type)
    return { kind: kindOf(mimeType), mimeType, source: { kind: 'base64', data: inline.data } }
  }
  const file = block.fileData ?? block.file_data
  const uri = isObject(file) ? (file.fileUri ?? file.file_uri) : undefined
  if (!isObject(file) || typeof uri !== 'string') return null
  const mimeType = stringOrNull(file.mimeType ?? file.mime_type)
  return { kind: kindOf(mimeType), mimeType, source: { kind: 'url', url: uri } }
}

/** `image` parts of user messages, `file` parts, and `image-data`, `media` and the like inside tool results. */
function readAiSdk(block: JsonObject): Media | null {
  const { type } = block
  if (typeof type !== 'string' || !/^(?:image|file|media)(?:-data|-url|-id)?$/.test(type)) return null
  const mimeType = stringOrNull(block.mediaType ?? block.mimeType)
  const kind = type.startsWith('image') ? 'image' : kindOf(mimeType)
  const given = block.image ?? block.data ?? block.url ?? block.fileId
  if (typeof given !== 'string') return null
  if (type.endsWith('-id')) return { kind, mimeType, source: { kind: 'id', id: given } }
  const read = /^(?:https?|data|file|gs):/.test(given) ? fromUrl(given, kind) : null
  return read === null ? { kind, mimeType, source: { kind: 'base64', data: given } } : { ...read, kind }
}

const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/

function fromUrl(url: string, kind: MediaKind): Media {
  // A data URL may be megabytes long: only its head is matched.
  const head = DATA_URL.exec(url.slice(0, 200))
  if (head === null) return { kind, mimeType: null, source: { kind: 'url', url } }
  const mimeType = head[1] === undefined || head[1] === '' ? null : head[1]
  return { kind, mimeType, source: { kind: 'base64', data: url.slice(head[0].length) } }
}

function kindOf(mimeType: string | null): MediaKind {
  const [top] = (mimeType ?? '').split('/')
  return top === 'image' || top === 'audio' || top === 'video' ? top : 'file'
}

function stringOrNull(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
