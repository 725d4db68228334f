/**
 * The runs of a LangSmith trace in the order in which they happened, and what each says. A trace is a tree (`child_runs`), or
 * a flat list that names parents. Pure.
 */
import { contentText } from './content-text.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { type LangChainMessage, langChainMessage } from './langchain-messages.ts'
import { parsePythonLiteral } from './python-literal.ts'

export interface TracedRun {
  readonly value: JsonObject
  /** Position in the walk: where it stands in the file. */
  readonly index: number
  /** Nearest enclosing tool run: what runs inside a tool is a sub-agent. */
  readonly tool: TracedRun | null
}

export function isRun(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.run_type === 'string' && ('inputs' in value || 'child_runs' in value)
}

/**
 * Depth first. A run whose parents form a circle stands on its own.
 * @param runs the log's runs, each with its `child_runs` if it has any, or naming its parent among the others
 */
export function tracedRuns(runs: readonly JsonObject[]): readonly TracedRun[] {
  const ids = new Set(runs.map((run) => run.id))
  const childrenOf = new Map<unknown, JsonObject[]>()
  const tops: JsonObject[] = []
  for (const run of runs) {
    const parent = idOf(run.parent_run_id)
    if (parent === null || parent === run.id || !ids.has(parent)) tops.push(run)
    else if (childrenOf.get(parent)?.push(run) === undefined) childrenOf.set(parent, [run])
  }
  const found: TracedRun[] = []
  const seen = new Set<JsonObject>()
  for (const start of [inOrder(tops), runs]) {
    const open: Pending[] = start.map((value) => ({ value, tool: null })).toReversed()
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { value, tool } = next
      if (seen.has(value)) continue
      seen.add(value)
      const run: TracedRun = { value, index: found.length, tool }
      found.push(run)
      const children = [...arrayOf(value.child_runs).filter(isRun), ...(childrenOf.get(value.id) ?? [])]
      const inside = value.run_type === 'tool' ? run : tool
      for (const child of inOrder(children).toReversed()) open.push({ value: child, tool: inside })
    }
  }
  return found
}

interface Pending {
  readonly value: JsonObject
  readonly tool: TracedRun | null
}

/** By dotted_order where all have one, else by start, else as logged. */
function inOrder(runs: readonly JsonObject[]): readonly JsonObject[] {
  for (const key of ['dotted_order', 'start_time'])
    if (runs.length > 1 && runs.every((run) => idOf(run[key]) !== null))
      return runs.toSorted((a, b) =>
        stringOf(a[key]) < stringOf(b[key]) ? -1 : stringOf(a[key]) > stringOf(b[key]) ? 1 : 0,
      )
  return runs
}

/** The history that an llm run was given: chat messages, in one or two lists, or prompts of a completion model. */
export function inputMessages(run: JsonObject): readonly LangChainMessage[] {
  const inputs = objectOf(run.inputs)
  const given = inputs.messages ?? inputs.input ?? inputs.prompts ?? inputs.prompt
  const list = Array.isArray(given) ? given.flat() : given === undefined ? [] : [given]
  return list.flatMap((value: unknown) => {
    if (typeof value === 'string') return [{ kind: 'human', fields: { content: value } }] satisfies LangChainMessage[]
    const message = langChainMessage(value)
    return message === null ? [] : [message]
  })
}

/** What it answered, or null. */
export function outputMessage(run: JsonObject): LangChainMessage | null {
  const outputs = objectOf(run.outputs)
  const generation = [outputs.generations].flat(3).find(isObject)
  const choice = objectOf(arrayOf(outputs.choices)[0])
  const candidates = [
    generation?.message,
    choice.message,
    outputs.message,
    outputs.output,
    arrayOf(outputs.messages).at(-1),
    outputs,
  ]
  for (const candidate of candidates) {
    const message = langChainMessage(candidate)
    if (message?.kind === 'ai') return message
  }
  const text = stringOf(generation?.text) || stringOf(outputs.output)
  return text === '' ? null : { kind: 'ai', fields: { content: text } }
}

export interface ToolOutput {
  readonly callId: string | null
  readonly content: string
  readonly isError: boolean
}

/** A tool run's result: text, a ToolMessage, or the repr of one. */
export function toolOutput(run: JsonObject): ToolOutput {
  const error = idOf(run.error)
  const outputs = objectOf(run.outputs)
  const output = outputs.output ?? (Object.keys(outputs).length === 0 ? undefined : run.outputs)
  const message = langChainMessage(output)?.fields ?? (typeof output === 'string' ? reprOf(output) : null)
  if (message !== null)
    return {
      callId: idOf(message.tool_call_id),
      content: contentText(message.content),
      isError: error !== null || message.status === 'error',
    }
  return { callId: null, content: output === undefined ? (error ?? '') : textOf(output), isError: error !== null }
}

/** `content='4' name='calc' tool_call_id='c1'`: each value is a Python literal. */
function reprOf(text: string): JsonObject | null {
  if (!/^content=['"[]/.test(text)) return null
  const at = text.lastIndexOf(' tool_call_id=')
  const id = /^'[^'\\]*'|^"[^"\\]*"/.exec(at === -1 ? '' : text.slice(at + ' tool_call_id='.length))?.[0]
  if (id === undefined) return null
  const fields = { tool_call_id: parsePythonLiteral(id)?.value }
  const ends = ['name=', 'id=', 'tool_call_id=', 'status=', 'artifact=', 'additional_kwargs=']
    .map((key) => text.lastIndexOf(` ${key}`))
    .filter((at) => at > 0)
    .toSorted((a, b) => a - b)
  for (const end of ends) {
    const content = parsePythonLiteral(text.slice('content='.length, end))
    if (content === undefined) continue
    const status = /\sstatus='(\w+)'/.exec(text.slice(end))?.[1]
    return { ...fields, content: content.value, ...(status === undefined ? {} : { status }) }
  }
  return null
}
