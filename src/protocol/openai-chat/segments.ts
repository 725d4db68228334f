/**
 * OpenAI chat completions: one message into segments. Pure.
 * Accepts what is found in logs and compatible hosts: null content, legacy function_call, custom tools, vendor reasoning
 * fields, arguments that are an object instead of a string.
 */
import { flattenContent } from '../flatten-content.ts'
import type { HistoryMessage, JsonValue } from '../history.ts'
import { type JsonPath, jsonPointer } from '../json-pointer.ts'
import { readMedia } from '../read-media.ts'
import { minifyJson, scanJson } from '../scan-json.ts'
import type { CallSegment, Segment } from '../segment.ts'
import { describeOpaque, isObject, type JsonObject, malformed } from '../segment.ts'

export function readOpenAiSegments(message: HistoryMessage, path: JsonPath): readonly Segment[] {
  const { value } = message
  if (message.role === 'tool') {
    const id = value.tool_call_id
    if (id !== undefined && id !== null && typeof id !== 'string')
      throw malformed([...path, 'tool_call_id'], 'the id of a tool call, a string')
    const { text, media } = flattenContent(value.content)
    return [
      {
        kind: 'result',
        block: null,
        pointer: jsonPointer(path),
        id: id ?? null,
        name: typeof value.name === 'string' ? value.name : null,
        content: text,
        isError: false,
        media,
      },
    ]
  }
  const content = readContent(message, path)
  return message.role === 'assistant'
    ? [...readReasoning(value, path), ...content, ...readCalls(message, path)]
    : content
}

function readContent(message: HistoryMessage, path: JsonPath): readonly Segment[] {
  const { content } = message.value
  const at = [...path, 'content']
  if (typeof content === 'string')
    return content === '' ? [] : [{ kind: 'text', block: null, pointer: jsonPointer(at), text: content }]
  return (message.blocks ?? []).map(({ value }, block): Segment => {
    if (!isObject(value) || typeof value.type !== 'string')
      throw malformed([...at, block], 'a content part with a type')
    const pointer = jsonPointer([...at, block])
    const text = value.type === 'refusal' ? value.refusal : value.text
    if (value.type !== 'text' && value.type !== 'refusal')
      return {
        kind: 'opaque',
        block,
        pointer,
        type: value.type,
        text: describeOpaque(value.type),
        media: readMedia(value),
      }
    if (typeof text !== 'string') throw malformed([...at, block, value.type], 'a string')
    return { kind: 'text', block, pointer, text }
  })
}

function readReasoning(value: JsonObject, path: JsonPath): readonly Segment[] {
  for (const field of ['reasoning_content', 'reasoning']) {
    const text = value[field]
    if (typeof text === 'string' && text !== '')
      return [{ kind: 'reasoning', block: null, pointer: jsonPointer([...path, field]), text }]
  }
  const details = value.reasoning_details
  if (!Array.isArray(details)) return []
  const text = details
    .map((detail: JsonValue) => (isObject(detail) ? (detail.text ?? detail.summary) : null))
    .filter((part) => typeof part === 'string')
    .join('\n')
  return [{ kind: 'reasoning', block: null, pointer: jsonPointer([...path, 'reasoning_details']), text }]
}

function readCalls(message: HistoryMessage, path: JsonPath): readonly Segment[] {
  const { value, raw } = message
  const segments: Segment[] = []
  if (typeof value.refusal === 'string' && value.refusal !== '')
    segments.push({ kind: 'text', block: null, pointer: jsonPointer([...path, 'refusal']), text: value.refusal })
  if (isObject(value.audio))
    segments.push({
      kind: 'opaque',
      block: null,
      pointer: jsonPointer([...path, 'audio']),
      type: 'audio',
      text: describeOpaque('audio'),
      media: null,
    })
  const calls = value.tool_calls ?? []
  if (!Array.isArray(calls)) throw malformed([...path, 'tool_calls'], 'a list of tool calls')
  calls.forEach((call: JsonValue, number) => {
    segments.push(readCall(call, [...path, 'tool_calls', number], raw))
  })
  if (isObject(value.function_call))
    segments.push({ ...readFunction(value.function_call, [...path, 'function_call'], raw), id: null })
  return segments
}

function readCall(call: JsonValue, path: JsonPath, raw: string): CallSegment {
  if (!isObject(call)) throw malformed(path, 'a tool call, an object')
  const { id } = call
  if (id !== undefined && id !== null && typeof id !== 'string') throw malformed([...path, 'id'], 'a string')
  const body = readFunction(
    call.function ?? call.custom,
    [...path, call.custom === undefined ? 'function' : 'custom'],
    raw,
  )
  return {
    kind: 'call',
    block: null,
    pointer: jsonPointer(path),
    id: id ?? null,
    name: body.name,
    arguments: body.arguments,
  }
}

function readFunction(body: JsonValue | undefined, path: JsonPath, raw: string): Omit<CallSegment, 'id'> {
  if (!isObject(body)) throw malformed(path, 'the called function, an object with name and arguments')
  if (typeof body.name !== 'string') throw malformed([...path, 'name'], 'a string')
  const given = body.arguments ?? body.input ?? ''
  const text = typeof given === 'string' ? given : rawArguments(raw, path.slice(2))
  return { kind: 'call', block: null, pointer: jsonPointer(path), name: body.name, arguments: text }
}

/** Arguments logged as a JSON value: their own text, so that large integers survive. */
function rawArguments(raw: string, path: JsonPath): string {
  let node = scanJson(raw, { keepDepth: path.length + 1 })
  for (const step of path) {
    const next = typeof step === 'number' ? node.elements[step] : node.members.get(step)
    if (next === undefined) return ''
    node = next
  }
  const found = node.members.get('arguments') ?? node.members.get('input')
  return found === undefined ? '' : minifyJson(raw.slice(found.start, found.end))
}
