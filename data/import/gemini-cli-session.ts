/**
 * Messages of a Gemini CLI session -> interactions: one `gemini` message with its tool calls and their results.
 */
import type { ToolCall } from '../../src/trajectory/trajectory.ts'
import { contentText } from './content-text.ts'
import { type GeminiEntry, isSnapshot } from './gemini-cli-replay.ts'
import type { ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import type { RunBuilder } from './run-builder.ts'

/** The model's answer to the summary of a compression: written by the CLI, no model call. */
export const ACKNOWLEDGEMENT = 'Got it. Thanks for the additional context!'
/** User text that the CLI has written. */
export const INJECTED =
  /^\s*(?:<(?:session_context|hook_context|system-reminder|loaded_context|project_context)\b|This is the Gemini CLI\.|--- Content from referenced files ---)/

export function addGeminiMessages(run: RunBuilder, entries: readonly GeminiEntry[], context: ReadContext): void {
  let open: { readonly index: number; readonly value: JsonObject } | null = null
  let afterSnapshot = false
  for (const { value, source } of entries) {
    const wasSnapshot: boolean = afterSnapshot
    afterSnapshot = false
    if (value.type === 'user') {
      open = null
      afterSnapshot = isSnapshot(value)
      addUser(run, { value, source }, context)
    } else if (value.type !== 'gemini') context.ignore(`${stringOf(value.type)} message`)
    else if (wasSnapshot && contentText(value.content).trim() === ACKNOWLEDGEMENT) context.ignore('answer to a summary')
    else {
      const parts = modelParts(value)
      const isEmpty = parts.reasoning === '' && parts.text === '' && parts.toolCalls.length === 0
      if (isEmpty) {
        context.ignore('failed model call')
        continue
      }
      let index: number
      if (open !== null && isSameCall(open.value, value)) {
        index = open.index
        run.extend(index, parts)
      } else index = run.call({ ...parts, source })
      open = { index, value }
      for (const call of arrayOf(value.toolCalls).filter(isObject))
        addToolResult(run, { call, source, context, of: index })
    }
  }
}

/** The CLI splits the text and the tools of one response where thoughts come between: only one of them counts tokens. */
function isSameCall(before: JsonObject, after: JsonObject): boolean {
  return arrayOf(before.toolCalls).length === 0 && !(isObject(before.tokens) && isObject(after.tokens))
}

function addUser(run: RunBuilder, { value, source }: GeminiEntry, context: ReadContext): void {
  const parts = Array.isArray(value.content) ? value.content : [value.content]
  for (const part of parts) {
    const response = isObject(part) ? (part.functionResponse ?? part.function_response) : undefined
    if (isObject(response)) {
      const result = responseOf(response)
      pairResult(run, { ...result, callId: idOf(response.id), name: idOf(response.name) }, { source, context })
      continue
    }
    const text = contentText(typeof part === 'string' ? part : [part])
    if (/^\s*<state_snapshot>/.test(text)) run.turn('summary', text, source)
    else run.turn(INJECTED.test(text) ? 'context' : 'user', text, source)
  }
}

function modelParts(message: JsonObject): {
  readonly reasoning: string
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
} {
  const parts: readonly unknown[] = Array.isArray(message.content) ? message.content : [message.content]
  const isThought = (part: unknown): boolean => isObject(part) && part.thought === true
  const isText = (part: unknown): boolean => !isThought(part) && !(isObject(part) && 'functionCall' in part)
  const thoughts = arrayOf(message.thoughts).filter(isObject)
  const recorded = arrayOf(message.toolCalls).filter(isObject)
  return {
    reasoning:
      thoughts.length > 0
        ? thoughts.map((thought) => joined([stringOf(thought.subject), stringOf(thought.description)])).join('\n\n')
        : joined(parts.filter(isThought).map((part) => contentText([part]))),
    text: joined(parts.filter((part) => part !== null && part !== undefined && isText(part)).map(partText)),
    toolCalls: (recorded.length > 0 ? recorded : functionCalls(parts)).map((call) => ({
      id: idOf(call.id),
      name: stringOf(call.name),
      arguments: textOf(call.args),
    })),
  }
}

/** Calls that stand only in the content, answered by a later message. */
function functionCalls(parts: readonly unknown[]): readonly JsonObject[] {
  return parts.flatMap((part) => (isObject(part) && isObject(part.functionCall) ? [part.functionCall] : []))
}

function partText(part: unknown): string {
  return typeof part === 'string' ? part : contentText([part])
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n')
}

/** A call that was cancelled before it ran has no result: it stays open. */
function addToolResult(
  run: RunBuilder,
  { call, ...place }: { readonly call: JsonObject } & Parameters<typeof pairResult>[2],
): void {
  const parts = Array.isArray(call.result) ? call.result : call.result === null ? [] : [call.result]
  const seen = parts.filter((part) => part !== undefined && part !== null)
  const shown = typeof call.resultDisplay === 'string' && call.status === 'error' ? [call.resultDisplay] : []
  const texts = (seen.length > 0 ? seen : shown).map((part) =>
    isObject(part) && isObject(part.functionResponse) ? responseOf(part.functionResponse).content : partText(part),
  )
  if (texts.length === 0) return
  const isError = call.status === 'error' || call.status === 'cancelled'
  pairResult(run, { callId: idOf(call.id), name: idOf(call.name), content: texts.join('\n'), isError }, place)
}

/** What a function response says: its `output` or `error` where it has one, else all of it. */
export function responseOf(functionResponse: JsonObject): { readonly content: string; readonly isError: boolean } {
  const response = functionResponse.response
  const { output, error } = objectOf(response)
  if (error !== undefined && error !== null) return { content: contentText(error), isError: true }
  return { content: contentText(output === undefined ? response : output), isError: false }
}

/** The session ended in an error or was cancelled, rather than with an answer. */
export function lastStop(entries: readonly GeminiEntry[]): boolean {
  const last = entries.findLast(({ value }) => value.type !== 'warning')?.value
  return last?.type === 'error' || (last?.type === 'info' && /cancelled/i.test(contentText(last.content)))
}
