/**
 * Response items of a Codex rollout -> interactions. Items of one model call carry no common id: a call is reasoning,
 * messages and tool calls in a row, up to the first output, message of another role, or start of a turn.
 */
import type { ToolCall } from '../../src/trajectory/trajectory.ts'
import { contentText } from './content-text.ts'
import type { ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

export interface CodexEntry {
  readonly kind: 'item' | 'compacted' | 'boundary'
  readonly value: JsonObject
  readonly line: number
}

export interface CodexRun {
  readonly run: RunBuilder
  readonly file: string
  readonly context: ReadContext
  /** Model call that further items belong to. */
  open: number | null
  /** Line of a reasoning that shows nothing (encrypted): it opens a call only together with what follows. */
  hidden: number | null
}

export function createCodexRun(file: string, context: ReadContext): CodexRun {
  return { run: createRunBuilder(), file, context, open: null, hidden: null }
}

/** First words of text that the harness puts into messages of role user. */
const INJECTED =
  /^\s*(?:# AGENTS\.md instructions|<(?:environment_context|user_instructions|INSTRUCTIONS|permissions instructions|collaboration_mode|model_switch|turn_aborted|user_shell_command|subagent_notification|skill|hook_prompt|personality_spec|apps_instructions|skills_instructions|plugins_instructions|goal_context)\b)/

/** How a summary of an earlier model begins when it stands in the new history as a message of role user. */
const SUMMARY = /^\s*Another language model started to solve this problem/

export function isUserEntry(entry: CodexEntry): boolean {
  if (entry.kind !== 'item' || entry.value.type !== 'message' || entry.value.role !== 'user') return false
  return userParts(entry.value.content).some((part) => part.kind === 'user')
}

export function addCodexEntry(state: CodexRun, entry: CodexEntry): void {
  if (entry.kind === 'item') addItem(state, entry)
  else {
    endCall(state)
    if (entry.kind === 'compacted') addCompaction(state, entry)
  }
}

function addItem(state: CodexRun, { value, line }: CodexEntry): void {
  const source = { file: state.file, line }
  const type = stringOf(value.type)
  if (type === 'message' && value.role !== 'assistant') {
    endCall(state)
    const parts =
      value.role === 'user'
        ? userParts(value.content)
        : [{ kind: 'context' as const, text: contentText(value.content) }]
    for (const part of parts) state.run.turn(part.kind, part.text, source)
  } else if (type === 'message') addToCall(state, line, { text: contentText(value.content) })
  else if (type === 'reasoning') addToCall(state, line, { reasoning: reasoningText(value) })
  else if (type.endsWith('_output')) {
    endCall(state)
    pairResult(state.run, resultOf(value), { source, context: state.context })
  } else if (type.endsWith('_call')) addToCall(state, line, { toolCalls: [callOf(value, type)] })
  else if (type === 'compaction' || type === 'context_compaction' || type === 'compaction_summary')
    state.context.ignore('opaque compaction item')
  else state.context.ignore(type === 'ghost_snapshot' ? type : `unknown item ${type}`)
}

function addToCall(
  state: CodexRun,
  line: number,
  part: { readonly reasoning?: string; readonly text?: string; readonly toolCalls?: readonly ToolCall[] },
): void {
  const more = { reasoning: '', text: '', toolCalls: [], ...part }
  if (state.open !== null) state.run.extend(state.open, more)
  else if (more.reasoning === '' && more.text === '' && more.toolCalls.length === 0) state.hidden ??= line
  else {
    state.open = state.run.call({ ...more, source: { file: state.file, line: state.hidden ?? line } })
    state.hidden = null
  }
}

/** The next item belongs to another model call. Call it after the last entry too. */
export function endCall(state: CodexRun): void {
  if (state.hidden !== null) state.context.ignore('model call that shows nothing')
  state.open = null
  state.hidden = null
}

/** `summary` is what the provider shows of an encrypted reasoning, `content` the reasoning itself. */
function reasoningText(item: JsonObject): string {
  const full = contentText(item.content)
  return full === '' ? contentText(item.summary) : full
}

function callOf(item: JsonObject, type: string): ToolCall {
  const id = idOf(item.call_id) ?? idOf(item.id)
  switch (type) {
    case 'function_call':
      return { id, name: toolName(item), arguments: textOf(item.arguments) }
    case 'custom_tool_call':
      return { id, name: toolName(item), arguments: textOf(item.input) }
    default:
      return {
        id,
        name: stringOf(item.name) || type.replace(/_call$/, ''),
        arguments: textOf(item.action ?? item.arguments ?? item.input),
      }
  }
}

/** Tools of an MCP server carry its name beside their own. */
function toolName(item: JsonObject): string {
  const name = stringOf(item.name)
  const namespace = stringOf(item.namespace)
  return namespace === '' || name.startsWith(namespace) ? name : `${namespace}${name}`
}

/** `output` is a string, a list of content items, or {content, success}. */
function resultOf(item: JsonObject): { callId: string | null; name: null; content: string; isError: boolean } {
  const output = item.output ?? item.tools
  const wrapped = isObject(output) && ('content' in output || 'success' in output) ? output : null
  return {
    callId: idOf(item.call_id),
    name: null,
    content: contentText(wrapped === null ? output : (wrapped.content ?? wrapped.content_items)),
    isError: wrapped?.success === false,
  }
}

/** One message may hold injected parts and a person's words. */
function userParts(
  content: unknown,
): readonly { readonly kind: 'user' | 'context' | 'summary'; readonly text: string }[] {
  const texts = Array.isArray(content) ? content.map((part: unknown) => contentText([part])) : [contentText(content)]
  const kindOf = (text: string): 'user' | 'context' | 'summary' =>
    SUMMARY.test(text) ? 'summary' : INJECTED.test(text) ? 'context' : 'user'
  const parts: { kind: 'user' | 'context' | 'summary'; text: string }[] = []
  for (const text of texts) {
    const kind = kindOf(text)
    const last = parts.at(-1)
    if (last?.kind === kind) last.text += `\n${text}`
    else parts.push({ kind, text })
  }
  return parts
}

/**
 * The history up to here was replaced. `message` is the summary; where it is empty (compacted by the provider) the summary
 * stands in the new history, or is encrypted and known by its size alone. The rest of the new history repeats earlier
 * messages.
 */
function addCompaction(state: CodexRun, { value, line }: CodexEntry): void {
  const history = arrayOf(value.replacement_history).filter(isObject)
  const said = history
    .filter((item) => item.type === 'message')
    .map((item) => contentText(item.content))
    .findLast((text) => SUMMARY.test(text))
  const opaque = history.find((item) => typeof item.encrypted_content === 'string' && item.type !== 'reasoning')
  const size = stringOf(objectOf(opaque).encrypted_content).length
  const text =
    stringOf(value.message) || said || (size > 0 ? `[encrypted summary of ${size} characters]` : '[summary not logged]')
  state.run.turn('summary', text, { file: state.file, line })
}
