/**
 * One AI SDK UI message into model calls, results and turns.
 */
import type { SourceRef, ToolCall } from '../../src/trajectory/trajectory.ts'
import type { ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { pairResult, placeOf } from './pair-result.ts'
import type { RunBuilder, ToolResult } from './run-builder.ts'

const ROLES: readonly unknown[] = ['system', 'user', 'assistant']

/** Parts of Gemini contents have no type, and their model has another role. */
export function isUiMessage(value: unknown): value is JsonObject {
  if (!isObject(value) || !ROLES.includes(value.role) || !Array.isArray(value.parts)) return false
  return value.parts.length > 0 && value.parts.every((part) => isObject(part) && typeof part.type === 'string')
}

export function addUiMessage(
  run: RunBuilder,
  given: {
    readonly message: JsonObject
    readonly source: SourceRef
    readonly context: ReadContext
    readonly system: string[]
  },
): void {
  const { message, source, context } = given
  const parts = arrayOf(message.parts).filter(isObject)
  if (message.role === 'assistant') {
    for (const step of stepsOf(parts)) addStep(run, step, { source, context })
    return
  }
  const text = visibleText(parts, context)
  if (message.role === 'user') run.turn('user', text, source)
  else if (run.count === 0) given.system.push(text)
  else run.turn('context', text, source)
}

/** The parts of each model call. */
function stepsOf(parts: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const steps: JsonObject[][] = [[]]
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1)?.push(part)
  }
  return steps
}

function addStep(
  run: RunBuilder,
  parts: readonly JsonObject[],
  { source, context }: { readonly source: SourceRef; readonly context: ReadContext },
): void {
  const tools = parts.flatMap((part): readonly ToolPart[] => {
    const tool = readToolPart(part)
    return tool === null ? [] : [tool]
  })
  const reasoning = parts
    .filter(({ type }) => type === 'reasoning')
    .map(({ text, reasoning: old }) => stringOf(text ?? old))
  const text = visibleText(parts, context)
  if (tools.length === 0 && text === '' && reasoning.every((thought) => thought === '')) return
  const index = run.call({
    reasoning: reasoning.filter((thought) => thought !== '').join('\n'),
    text,
    toolCalls: tools.map(({ call }) => call),
    source,
  })
  for (const { call, result, state } of tools) {
    if (result !== null) pairResult(run, result, { source, context, of: index })
    else if (!OPEN_STATES.includes(state))
      context.damage({ ...placeOf(source), reason: `tool call ${call.id ?? call.name} has the unknown state ${state}` })
  }
}

interface ToolPart {
  readonly call: ToolCall
  readonly state: string
  /** Null for a call that has not come to its end. */
  readonly result: ToolResult | null
}

const OPEN_STATES = [
  'input-streaming',
  'input-available',
  'approval-requested',
  'approval-responded',
  'partial-call',
  'call',
]

/** `tool-NAME`, `dynamic-tool`, and `tool-invocation` of version 4. */
function readToolPart(part: JsonObject): ToolPart | null {
  const type = stringOf(part.type)
  if (type !== 'dynamic-tool' && !type.startsWith('tool-')) return null
  const tool = type === 'tool-invocation' ? objectOf(part.toolInvocation) : part
  const name =
    type === 'dynamic-tool' || type === 'tool-invocation' ? stringOf(tool.toolName) : type.slice('tool-'.length)
  const id = idOf(tool.toolCallId)
  const state = stringOf(tool.state)
  const input = tool.input ?? tool.rawInput ?? tool.args
  const call = { id, name, arguments: input === undefined ? '' : textOf(input) }
  const ended = (content: string, isError: boolean): ToolPart => ({
    call,
    state,
    result: { callId: id, name, content, isError },
  })
  switch (state) {
    case 'output-available':
      return ended(textOf(tool.output), false)
    case 'result':
      return ended(textOf(tool.result), false)
    case 'output-error':
      return ended(stringOf(tool.errorText), true)
    case 'output-denied':
      return ended(stringOf(objectOf(tool.approval).reason) || '[execution denied]', true)
    default:
      return { call, state, result: null }
  }
}

/** Texts, and files as their kind; sources and data parts are for the interface alone. */
function visibleText(parts: readonly JsonObject[], context: ReadContext): string {
  const texts = parts.flatMap((part): readonly string[] => {
    const type = stringOf(part.type)
    if (type === 'text') return [stringOf(part.text)]
    if (type === 'file') return [`[${/^(?:image|audio|video)(?=\/)/.exec(stringOf(part.mediaType))?.[0] ?? 'file'}]`]
    if (type.startsWith('data-') || type.startsWith('source')) context.ignore(`${type} part`)
    return []
  })
  return texts.filter((text) => text !== '').join('\n')
}
