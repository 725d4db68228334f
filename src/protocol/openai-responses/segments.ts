/**
 * OpenAI Responses: one item into segments. Pure.
 * Items that item-kind.ts does not know are opaque: kept where they are, never summarised.
 */
import { flattenContent } from '../flatten-content.ts'
import type { HistoryMessage, JsonValue } from '../history.ts'
import { type JsonPath, jsonPointer } from '../json-pointer.ts'
import { readMedia } from '../read-media.ts'
import { minifyJson, scanJson } from '../scan-json.ts'
import { type CallSegment, describeOpaque, isObject, type JsonObject, malformed, type Segment } from '../segment.ts'
import { readHosted } from './hosted-items.ts'
import { itemKind, itemType } from './item-kind.ts'

export function readResponsesSegments(message: HistoryMessage, path: JsonPath): readonly Segment[] {
  const { value } = message
  const kind = itemKind(value)
  switch (kind) {
    case 'message':
      return readContent(message, path)
    case 'reasoning':
      return [{ kind: 'reasoning', block: null, pointer: jsonPointer(path), text: reasoningText(value) }]
    case 'call':
      return [readCall(message, path)]
    case 'output':
      return [readOutput(message, path)]
    case 'hosted':
      return readHosted(message, path)
    case 'state':
    case 'other':
      return [readOpaque(value, itemType(value) ?? 'unknown item', path)]
    case 'compaction':
      return [readOpaque(value, 'compaction', path)]
    default:
      return kind satisfies never
  }
}

const TEXT_TYPES: readonly string[] = ['input_text', 'output_text', 'text', 'summary_text', 'reasoning_text']

function readContent(message: HistoryMessage, path: JsonPath): readonly Segment[] {
  const { content } = message.value
  const at = [...path, 'content']
  if (typeof content === 'string')
    return content === '' ? [] : [{ kind: 'text', block: null, pointer: jsonPointer(at), text: content }]
  if (message.blocks === null) throw malformed(at, 'a string or a list of content parts')
  return message.blocks.map(({ value }, block): Segment => {
    if (!isObject(value) || typeof value.type !== 'string')
      throw malformed([...at, block], 'a content part with a type')
    const pointer = jsonPointer([...at, block])
    const { type } = value
    if (type !== 'refusal' && !TEXT_TYPES.includes(type)) return { ...readOpaque(value, type, [...at, block]), block }
    const field = type === 'refusal' ? 'refusal' : 'text'
    const text = value[field]
    if (typeof text !== 'string') throw malformed([...at, block, field], 'a string')
    return { kind: 'text', block, pointer, text }
  })
}

/** The visible part: the summary, or the reasoning itself where an open model shows it; "" where all is encrypted. */
function reasoningText({ summary, content }: JsonObject): string {
  return [flattenContent(summary).text, flattenContent(content).text].filter((text) => text !== '').join('\n')
}

/** Fields that hold what the model passes to the tool, in the order in which they are looked for. */
const ARGUMENT_FIELDS = ['arguments', 'input', 'action', 'actions', 'operation', 'code'] as const

function readCall(message: HistoryMessage, path: JsonPath): CallSegment {
  const { value } = message
  const name = value.name ?? (itemType(value) ?? '').replace(/_call$/, '')
  if (typeof name !== 'string') throw malformed([...path, 'name'], 'the name of the tool, a string')
  const id = value.call_id
  if (typeof id !== 'string') throw malformed([...path, 'call_id'], 'the id of the call, a string')
  const field = ARGUMENT_FIELDS.find((candidate) => value[candidate] !== undefined && value[candidate] !== null)
  return {
    kind: 'call',
    block: null,
    pointer: jsonPointer(path),
    id,
    name,
    arguments: field === undefined ? '' : fieldText(message, field),
  }
}

function readOutput(message: HistoryMessage, path: JsonPath): Segment {
  const { value } = message
  // A local shell's output names its call by `id` at some clients: then it answers the open shell call.
  const isLocalShell = value.type === 'local_shell_call_output'
  const id = typeof value.call_id === 'string' ? value.call_id : null
  if (id === null && !isLocalShell) throw malformed([...path, 'call_id'], 'the id of the call, a string')
  const { content, media, failed } = readOutputValue(message)
  return {
    kind: 'result',
    block: null,
    pointer: jsonPointer(path),
    id,
    name: isLocalShell ? 'local_shell' : null,
    content,
    isError: failed || value.status === 'failed',
    media,
  }
}

/** `output` is a string, a list of content parts, {content, success} (Codex), or a value of the tool's own shape. */
function readOutputValue(message: HistoryMessage): ReturnType<typeof outputOf> {
  const { value } = message
  const field = value.type === 'program_output' ? 'result' : 'output'
  return outputOf(value[field], () => fieldText(message, field))
}

function outputOf(
  output: JsonValue | undefined,
  raw: () => string,
): { readonly content: string; readonly media: ReturnType<typeof flattenContent>['media']; readonly failed: boolean } {
  const medium = readMedia(output)
  if (medium !== null) return { content: describeOpaque('screenshot'), media: [medium], failed: false }
  if (isObject(output) && (typeof output.content === 'string' || Array.isArray(output.content))) {
    const { text, media } = flattenContent(output.content)
    return { content: text, media, failed: output.success === false }
  }
  const isContent = Array.isArray(output) && output.every((part) => typeof part === 'string' || isPart(part))
  if (typeof output === 'string' || isContent) {
    const { text, media } = flattenContent(output)
    return { content: text, media, failed: false }
  }
  return { content: output === undefined || output === null ? '' : raw(), media: [], failed: false }
}

function isPart(value: JsonValue): boolean {
  return isObject(value) && typeof value.type === 'string'
}

function readOpaque(value: JsonObject, type: string, path: JsonPath): Extract<Segment, { kind: 'opaque' }> {
  return {
    kind: 'opaque',
    block: null,
    pointer: jsonPointer(path),
    type,
    text: describeOpaque(type),
    media: readMedia(value) ?? generatedImage(value),
  }
}

/** Base64 without a data URL around it. */
function generatedImage({ type, result }: JsonObject): ReturnType<typeof readMedia> {
  if (type !== 'image_generation_call' || typeof result !== 'string') return null
  return { kind: 'image', mimeType: null, source: { kind: 'base64', data: result } }
}

/** A string field as it is; any other value by its own text, so that large integers survive. */
function fieldText(message: HistoryMessage, field: string): string {
  const value = message.value[field]
  if (typeof value === 'string') return value
  const node = scanJson(message.raw, { keepDepth: 1 }).members.get(field)
  return node === undefined ? '' : minifyJson(message.raw.slice(node.start, node.end))
}
