/**
 * The provider-free form as OpenAI chat completions. Pure.
 */
import type { NeutralPart, NeutralTurn, WrittenHistory } from '../convert/neutral.ts'
import type { JsonValue } from '../history.ts'
import { describeMedia, type Media, mediaUrl } from '../media.ts'

/** Every system text is a message of its own, in its place; a string content where there is text alone. */
export function writeOpenAiChat(turns: readonly NeutralTurn[]): WrittenHistory {
  const losses: string[] = []
  const messages = turns.flatMap((turn): readonly JsonValue[] => {
    switch (turn.kind) {
      case 'system':
        return [{ role: 'system', content: turn.text }]
      case 'user':
        return [{ role: 'user', content: writeContent(turn.parts, losses) }]
      case 'assistant': {
        const text = textOf(turn.parts, { of: 'an assistant message', losses })
        const calls = turn.calls.map(({ id, name, arguments: args }) => ({
          id,
          type: 'function',
          function: { name, arguments: args },
        }))
        return [
          {
            role: 'assistant',
            content: text === '' ? null : text,
            ...(calls.length === 0 ? {} : { tool_calls: calls }),
          },
        ]
      }
      case 'results':
        return turn.results.map(({ id, parts }) => ({
          role: 'tool',
          tool_call_id: id,
          content: textOf(parts, { of: 'a tool message', losses }),
        }))
      default:
        return turn satisfies never
    }
  })
  return { messages, system: null, losses }
}

function writeContent(parts: readonly NeutralPart[], losses: string[]): JsonValue {
  const [only] = parts
  if (parts.length === 1 && only?.kind === 'text') return only.text
  return parts.map((part): JsonValue => {
    if (part.kind === 'text') return { type: 'text', text: part.text }
    const block = writeMedia(part.media)
    if (block !== null) return block
    losses.push(`${describeMedia(part.media)} of a user message: this format has no place for it`)
    return { type: 'text', text: describeMedia(part.media) }
  })
}

function writeMedia(media: Media): JsonValue | null {
  const { kind, source } = media
  switch (kind) {
    case 'image': {
      const url = mediaUrl(media)
      if (url === null) return null
      return { type: 'image_url', image_url: { url, ...(media.detail === undefined ? {} : { detail: media.detail }) } }
    }
    case 'audio':
      if (source.kind !== 'base64') return null
      return {
        type: 'input_audio',
        input_audio: { data: source.data, format: (media.mimeType ?? '').split('/')[1] ?? '' },
      }
    case 'file':
      if (source.kind === 'id') return { type: 'file', file: { file_id: source.id } }
      return source.kind === 'base64' ? { type: 'file', file: { file_data: mediaUrl(media) ?? '' } } : null
    case 'video':
      return null
    default:
      return kind satisfies never
  }
}

/** Assistant and tool messages hold text alone: media stand in it as their bracketed kind. */
function textOf(parts: readonly NeutralPart[], about: { readonly of: string; readonly losses: string[] }): string {
  return parts
    .map((part) => {
      if (part.kind === 'text') return part.text
      about.losses.push(`${describeMedia(part.media)} of ${about.of}: this format takes text alone there`)
      return describeMedia(part.media)
    })
    .join('\n')
}
