/**
 * LangChain messages in all their dumped forms -> interactions. A tool call may stand three times in one message (tool_calls,
 * a tool_use block of the provider, additional_kwargs): it is one call.
 */
import type { SourceRef, ToolCall } from '../../src/trajectory/trajectory.ts'
import { contentText } from './content-text.ts'
import type { ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import type { RunBuilder } from './run-builder.ts'

export interface LangChainMessage {
  readonly kind: 'human' | 'ai' | 'tool' | 'system' | 'other'
  readonly fields: JsonObject
}

/** By class name (lc constructors, chunks included), by type, and by role. */
const KINDS: Readonly<Record<string, LangChainMessage['kind']>> = {
  HumanMessage: 'human',
  human: 'human',
  user: 'human',
  AIMessage: 'ai',
  ai: 'ai',
  assistant: 'ai',
  ToolMessage: 'tool',
  tool: 'tool',
  FunctionMessage: 'tool',
  function: 'tool',
  SystemMessage: 'system',
  system: 'system',
  developer: 'system',
  ChatMessage: 'other',
  chat: 'other',
  RemoveMessage: 'other',
  remove: 'other',
}
const CALL_BLOCKS = new Set(['tool_use', 'tool_call', 'function_call', 'server_tool_use'])
const REASONING_BLOCKS = new Set(['thinking', 'reasoning', 'reasoning_content', 'redacted_thinking'])
const SUMMARY = /^\s*(?:Here is a summary of the conversation to date|This is a summary of the conversation to date)/

/** Null for what is no message. */
export function langChainMessage(value: unknown): LangChainMessage | null {
  if (!isObject(value)) return null
  if (value.lc === 1 || (value.type === 'constructor' && Array.isArray(value.id))) {
    const name = String(arrayOf(value.id).at(-1) ?? '')
    return named(name, objectOf(value.kwargs))
  }
  if (typeof value.type === 'string' && isObject(value.data)) return named(value.type, value.data)
  if (!('content' in value) && !('tool_calls' in value)) return null
  return typeof value.type === 'string' ? named(value.type, value) : named(stringOf(value.role), value)
}

function named(name: string, fields: JsonObject): LangChainMessage | null {
  const plain = name.replace(/Chunk$/, '')
  const kind = Object.hasOwn(KINDS, plain) ? KINDS[plain] : undefined
  if (kind === undefined) return null
  const byRole = kind === 'other' && typeof fields.role === 'string' ? KINDS[fields.role] : undefined
  return { kind: byRole ?? kind, fields }
}

export function addLangChainMessage(
  run: RunBuilder,
  { kind, fields }: LangChainMessage,
  place: { readonly source: SourceRef; readonly context: ReadContext; readonly system: string[] },
): void {
  const { source, context, system } = place
  const text = contentText(fields.content)
  if (kind === 'ai') run.call({ ...modelParts(fields), source })
  else if (kind === 'tool') {
    const result = {
      callId: idOf(fields.tool_call_id),
      name: idOf(fields.name),
      content: text,
      isError: isError(fields),
    }
    pairResult(run, result, { source, context })
  } else if (kind === 'system' && run.count === 0) {
    if (!system.includes(text)) system.push(text)
  } else if (kind === 'human') run.turn(isSummary(fields, text) ? 'summary' : 'user', text, source)
  else if (text === '') context.ignore('message without a part in the conversation')
  else run.turn('context', text, source)
}

function isError(fields: JsonObject): boolean {
  return fields.status === 'error' || fields.is_error === true
}

function isSummary(fields: JsonObject, text: string): boolean {
  return objectOf(fields.additional_kwargs).lc_source === 'summarization' || SUMMARY.test(text)
}

export function modelParts(fields: JsonObject): {
  readonly reasoning: string
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
} {
  const blocks = arrayOf(fields.content).filter(isObject)
  const typeOf = (block: unknown): string => (isObject(block) ? stringOf(block.type) : '')
  const own = arrayOf(fields.content).filter(
    (block) =>
      !CALL_BLOCKS.has(typeOf(block)) && !REASONING_BLOCKS.has(typeOf(block)) && typeOf(block) !== 'input_json_delta',
  )
  const extra = objectOf(fields.additional_kwargs)
  const thoughts = blocks.filter((block) => REASONING_BLOCKS.has(typeOf(block))).map(reasoningText)
  return {
    reasoning: [...thoughts, stringOf(extra.reasoning_content) || stringOf(fields.reasoning_content)]
      .filter((text) => text !== '')
      .join('\n'),
    text: Array.isArray(fields.content) ? contentText(own) : contentText(fields.content),
    toolCalls: callsOf(fields, blocks, extra),
  }
}

function reasoningText(block: JsonObject): string {
  for (const key of ['thinking', 'reasoning', 'text', 'reasoning_content', 'summary']) {
    const value = block[key]
    const text = isObject(value) ? stringOf(value.text) : contentText(value)
    if (text !== '') return text
  }
  return ''
}

function callsOf(fields: JsonObject, blocks: readonly JsonObject[], extra: JsonObject): readonly ToolCall[] {
  const calls = [...arrayOf(fields.tool_calls), ...arrayOf(fields.invalid_tool_calls)].filter(isObject).map(toolCall)
  const ids = new Set(calls.map((call) => call.id))
  const repeated = [
    ...blocks.filter((block) => CALL_BLOCKS.has(stringOf(block.type))),
    ...arrayOf(extra.tool_calls).filter(isObject),
    ...(isObject(extra.function_call) ? [extra.function_call] : []),
  ].map(toolCall)
  // A copy without an id can only be told from a call of its own where there is no other.
  const isNew = ({ id }: ToolCall): boolean => (id === null ? calls.length === 0 : !ids.has(id))
  for (const call of repeated) {
    if (!isNew(call)) continue
    calls.push(call)
    ids.add(call.id)
  }
  return calls
}

/** `args` is an object; the provider's forms have `input`, or `arguments` as JSON text, some inside `function`. */
function toolCall(call: JsonObject): ToolCall {
  const inner = isObject(call.function) ? call.function : call
  return {
    id: idOf(call.call_id) ?? idOf(call.id),
    name: stringOf(inner.name),
    arguments: textOf(call.args ?? call.input ?? inner.arguments),
  }
}

/** The model was stopped by its output limit. */
export function wasStopped({ fields }: LangChainMessage): boolean {
  const { stop_reason: stop, finish_reason: finish } = objectOf(fields.response_metadata)
  return stop === 'max_tokens' || finish === 'length' || finish === 'MAX_TOKENS'
}
