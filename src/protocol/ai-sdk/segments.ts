/**
 * AI SDK model messages: one message into segments. Pure.
 * Accepts what older versions wrote: `args` for `input`, `result` for `output`, a string where `output` is an object. Parts
 * that this file does not know are opaque: kept where they are, never summarised.
 */
import type { HistoryBlock, HistoryMessage } from '../history.ts'
import { type JsonPath, jsonPointer } from '../json-pointer.ts'
import { readMedia } from '../read-media.ts'
import { minifyJson, scanJson } from '../scan-json.ts'
import { isObject, type JsonObject, malformed, type Segment } from '../segment.ts'
import { readToolOutput } from './read-tool-output.ts'

export function readAiSdkSegments(message: HistoryMessage, messagePath: JsonPath): readonly Segment[] {
  const path = [...messagePath, 'content']
  const { content } = message.value
  if (typeof content === 'string') {
    const place = { block: null, pointer: jsonPointer(path) }
    // A tool message of another API: its text is a result, though of which call it does not say (V7).
    if (message.role === 'tool')
      return [{ ...place, kind: 'result', id: null, name: null, content, isError: false, media: [] }]
    return content === '' ? [] : [{ ...place, kind: 'text', text: content }]
  }
  if (message.blocks === null) throw malformed(path, 'a string or a list of parts')
  return message.blocks.map((block, number) => readPart(block, number, [...path, number]))
}

function readPart(block: HistoryBlock, number: number, path: JsonPath): Segment {
  const { value } = block
  if (!isObject(value) || typeof value.type !== 'string') throw malformed(path, 'a part with a type')
  const place = { block: number, pointer: jsonPointer(path) }
  switch (value.type) {
    case 'text':
    case 'reasoning':
      return { ...place, kind: value.type, text: readString(value, 'text', path) }
    case 'redacted-reasoning':
      return { ...place, kind: 'reasoning', text: '' }
    case 'tool-call':
      return {
        ...place,
        kind: 'call',
        id: readString(value, 'toolCallId', path),
        name: readString(value, 'toolName', path),
        arguments: readInput(value, block.raw),
      }
    case 'tool-result':
      return {
        ...place,
        kind: 'result',
        id: readString(value, 'toolCallId', path),
        name: typeof value.toolName === 'string' ? value.toolName : null,
        ...readToolOutput(value, block.raw),
      }
    default: {
      const media = readMedia(value)
      const type = media?.kind ?? value.type
      return { ...place, kind: 'opaque', type, text: describePart(value, type), media }
    }
  }
}

/** The user's answer to an approval request is words enough to be read. */
function describePart(value: JsonObject, type: string): string {
  const name = type.replaceAll('-', ' ')
  if (typeof value.approved !== 'boolean') return `[${name}]`
  const verdict = value.approved ? 'approved' : 'denied'
  return typeof value.reason === 'string' && value.reason !== ''
    ? `[${name}: ${verdict}: ${value.reason}]`
    : `[${name}: ${verdict}]`
}

function readString(value: JsonObject, field: string, path: JsonPath): string {
  const found = value[field]
  if (typeof found !== 'string') throw malformed([...path, field], 'a string')
  return found
}

/** The input's own text, so that large integers survive; a string (input that the SDK could not parse) as it is. */
function readInput(value: JsonObject, raw: string): string {
  const given = value.input ?? value.args
  if (typeof given === 'string') return given
  const { members } = scanJson(raw, { keepDepth: 1 })
  const node = members.get('input') ?? members.get('args')
  return node === undefined ? '{}' : minifyJson(raw.slice(node.start, node.end))
}
