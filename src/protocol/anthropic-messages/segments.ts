/**
 * Anthropic Messages: one message into segments. Pure.
 * Block types that this file does not know are opaque: kept where they are, never summarised.
 */
import { flattenContent } from '../flatten-content.ts'
import type { HistoryBlock, HistoryMessage } from '../history.ts'
import { type JsonPath, jsonPointer } from '../json-pointer.ts'
import { readMedia } from '../read-media.ts'
import { minifyJson, scanJson } from '../scan-json.ts'
import type { Segment } from '../segment.ts'
import { describeOpaque, isObject, type JsonObject, malformed } from '../segment.ts'

export function readAnthropicSegments(message: HistoryMessage, messagePath: JsonPath): readonly Segment[] {
  const path = [...messagePath, 'content']
  const { content } = message.value
  if (typeof content === 'string') return [{ kind: 'text', block: null, pointer: jsonPointer(path), text: content }]
  if (message.blocks === null) throw malformed(path, 'a string or a list of content blocks')
  return message.blocks.map((block, number) => readBlock(block, number, [...path, number]))
}

function readBlock(block: HistoryBlock, number: number, path: JsonPath): Segment {
  const { value } = block
  if (!isObject(value) || typeof value.type !== 'string') throw malformed(path, 'a content block with a type')
  // Spelled out: most blocks of a log pass here, and a spread costs more than the rest.
  const pointer = jsonPointer(path)
  switch (value.type) {
    case 'text':
      return { block: number, pointer, kind: 'text', text: readString(value, 'text', path) }
    case 'thinking':
      return { block: number, pointer, kind: 'reasoning', text: readString(value, 'thinking', path) }
    case 'redacted_thinking':
      return { block: number, pointer, kind: 'reasoning', text: '' }
    case 'tool_use': {
      const id = readString(value, 'id', path)
      const name = readString(value, 'name', path)
      return { block: number, pointer, kind: 'call', id, name, arguments: rawInput(block.raw) }
    }
    case 'tool_result': {
      const { text, media } = flattenContent(value.content)
      const id = readString(value, 'tool_use_id', path)
      const isError = value.is_error === true
      return { block: number, pointer, kind: 'result', id, name: null, content: text, isError, media }
    }
    case 'document': {
      const { source } = value
      if (isObject(source) && source.type === 'text' && typeof source.data === 'string')
        return { block: number, pointer, kind: 'text', text: source.data }
      return opaqueBlock(number, pointer, { type: 'document', media: readMedia(value) })
    }
    case 'compaction':
      return {
        ...opaqueBlock(number, pointer, { type: 'compaction', media: null }),
        text: typeof value.content === 'string' ? value.content : describeOpaque('compaction'),
      }
    default:
      return opaqueBlock(number, pointer, { type: value.type, media: readMedia(value) })
  }
}

function opaqueBlock(
  block: number,
  pointer: string,
  what: { readonly type: string; readonly media: ReturnType<typeof readMedia> },
): Extract<Segment, { readonly kind: 'opaque' }> {
  return { block, pointer, kind: 'opaque', type: what.type, text: describeOpaque(what.type), media: what.media }
}

function readString(value: JsonObject, field: string, path: JsonPath): string {
  const found = value[field]
  if (typeof found !== 'string') throw malformed([...path, field], 'a string')
  return found
}

/** The input's own text, so that large integers survive; {} where the log has none. */
function rawInput(raw: string): string {
  const input = scanJson(raw, { keepDepth: 1, isParsed: true }).members.get('input')
  return input === undefined ? '{}' : minifyJson(raw.slice(input.start, input.end))
}
