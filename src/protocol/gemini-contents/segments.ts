/**
 * Gemini contents: one content into segments. Pure.
 * Field names come in camelCase (REST, JavaScript) and snake_case (Python, ADK); both are read. Parts that this file does
 * not know are opaque: kept where they are, never summarised.
 */
import type { HistoryBlock, HistoryMessage } from '../history.ts'
import { type JsonPath, jsonPointer } from '../json-pointer.ts'
import { readMedia } from '../read-media.ts'
import { minifyJson, scanJson } from '../scan-json.ts'
import { describeOpaque, isObject, type JsonObject, malformed, type Segment } from '../segment.ts'
import { partField } from './part-field.ts'
import { readFunctionResponse } from './read-function-response.ts'

export function readGeminiSegments(message: HistoryMessage, messagePath: JsonPath): readonly Segment[] {
  const path = [...messagePath, 'parts']
  if (typeof message.value.parts === 'string') throw malformed(path, 'a list of parts')
  return (message.blocks ?? []).map((block, number) => readPart(block, number, [...path, number]))
}

function readPart(block: HistoryBlock, number: number, path: JsonPath): Segment {
  const { value } = block
  if (!isObject(value)) throw malformed(path, 'a part, an object')
  const place = { block: number, pointer: jsonPointer(path) }
  const call = partField(value, 'functionCall')
  if (call !== null) {
    if (!isObject(call.value)) throw malformed([...path, call.key], 'a function call, an object')
    if (typeof call.value.name !== 'string') throw malformed([...path, call.key, 'name'], 'a string')
    return {
      ...place,
      kind: 'call',
      id: readId(call.value),
      name: call.value.name,
      arguments: rawArguments(block.raw, call.key),
    }
  }
  const answer = partField(value, 'functionResponse')
  if (answer !== null) {
    if (!isObject(answer.value)) throw malformed([...path, answer.key], 'a function response, an object')
    const { name } = answer.value
    return {
      ...place,
      kind: 'result',
      id: readId(answer.value),
      name: typeof name === 'string' && name !== '' ? name : null,
      ...readFunctionResponse(answer.value, { raw: block.raw, key: answer.key }),
    }
  }
  return { ...place, ...readContentPart(value, path) }
}

function readContentPart(value: JsonObject, path: JsonPath): SegmentBody {
  const { text } = value
  if (text !== undefined && typeof text !== 'string') throw malformed([...path, 'text'], 'a string')
  if (text !== undefined) return { kind: value.thought === true ? 'reasoning' : 'text', text }
  const media = readMedia(value)
  if (media !== null) return { kind: 'opaque', type: media.kind, text: describeOpaque(media.kind), media }
  const code = partField(value, 'executableCode')
  if (code !== null) return opaqueText('executable_code', code.value, 'code')
  const output = partField(value, 'codeExecutionResult')
  if (output !== null) return opaqueText('code_execution_result', output.value, 'output')
  const type = Object.keys(value).find((key) => !BESIDE.has(key))
  if (type !== undefined) return { kind: 'opaque', type, text: describeOpaque(type), media: null }
  // Nothing but a signature: what the model thought, encrypted. Nothing at all: an empty text (G7).
  return partField(value, 'thoughtSignature') === null ? { kind: 'text', text: '' } : { kind: 'reasoning', text: '' }
}

/** Stand beside the data of a part and are no data themselves. */
const BESIDE: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'thought_signature',
  'videoMetadata',
  'video_metadata',
  'partMetadata',
  'part_metadata',
])

type SegmentBody =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | Omit<Extract<Segment, { kind: 'opaque' }>, 'block' | 'pointer'>

/** Code that the provider runs itself, and what it printed: readable, but tied to each other and to the provider. */
function opaqueText(type: string, holder: JsonObject[string], field: string): SegmentBody {
  const text = isObject(holder) ? holder[field] : undefined
  return { kind: 'opaque', type, text: typeof text === 'string' ? text : describeOpaque(type), media: null }
}

function readId(value: JsonObject): string | null {
  return typeof value.id === 'string' && value.id !== '' ? value.id : null
}

/** The arguments' own text, so that large integers survive; {} where the call has none. */
function rawArguments(raw: string, key: string): string {
  const args = scanJson(raw, { keepDepth: 2 }).members.get(key)?.members.get('args')
  return args === undefined ? '{}' : minifyJson(raw.slice(args.start, args.end))
}
