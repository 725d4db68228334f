/**
 * LangSmith run trees (one JSON, a list of runs, or JSONL) -> trajectories. An interaction is one llm run. The inputs of an
 * llm run hold the history so far, so what the model saw between two calls comes from the next one's inputs; tool runs
 * answer what no later input shows. llm runs inside a tool run are a sub-agent of the call that started it.
 */
import { AppError } from '../../src/errors.ts'
import type { ToolCall, Trajectory } from '../../src/trajectory/trajectory.ts'
import { sessionGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { contentText } from './content-text.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { idOf, type JsonObject, objectOf, stringOf } from './json-value.ts'
import { addLangChainMessage, type LangChainMessage, modelParts, wasStopped } from './langchain-messages.ts'
import { inputMessages, isRun, outputMessage, type TracedRun, toolOutput, tracedRuns } from './langsmith-runs.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

export const langSmith: Importer = {
  name: 'langsmith',
  summary: 'LangSmith run trees (JSON or JSONL of runs with run_type, inputs, outputs)',
  detect({ document, records }) {
    const values = document === undefined ? records : Array.isArray(document) ? document : [document]
    const runs = values.filter(
      (value) => isRun(value) && ('trace_id' in value || 'parent_run_id' in value || 'child_runs' in value),
    )
    return runs.length === 0 ? null : { because: `${runs.length} runs with run_type, inputs and outputs` }
  },
  async *read(file, context) {
    const runs = await readRuns(file, context)
    if (runs.length === 0)
      throw new AppError('log-malformed', `${file.name} holds no LangSmith run: none has a run_type and inputs`)
    const traces = grouped(runs, (run) => stringOf(run.trace_id) || stringOf(run.id) || file.sha256.slice(0, 16))
    for (const [trace, members] of traces) yield* readTrace(members, { file, context, trace })
  },
}

async function readRuns(file: LogFile, context: ReadContext): Promise<readonly JsonObject[]> {
  const { document } = file.sample
  const runs: JsonObject[] = []
  const add = (value: unknown, place: { readonly line: number } | { readonly index: number }): void => {
    if (isRun(value)) runs.push(value)
    else context.damage({ ...place, reason: 'record is no run: it has no run_type, or no inputs' })
  }
  const values = Array.isArray(document) ? document : [document]
  if (document !== undefined) for (const [index, value] of values.entries()) add(value, { index })
  else
    for await (const line of file.lines()) {
      if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
      else add(line.value, { line: line.line })
    }
  return runs
}

interface Trace {
  readonly file: LogFile
  readonly context: ReadContext
  readonly trace: string
}

/** Each agent of a trace: the outermost one, then those that ran inside a tool. */
function* readTrace(members: readonly JsonObject[], log: Trace): Generator<Trajectory> {
  const runs = tracedRuns(members).filter(({ value }) => value.run_type === 'llm' || value.run_type === 'tool')
  const byAgent = grouped(runs, (run) => run.tool)
  const group = sessionGroup('langsmith', threadOf(members) ?? log.trace)
  const idOfAgent = (tool: TracedRun | null): string =>
    `langsmith/${log.trace}${tool === null ? '' : `/${stringOf(tool.value.id) || String(tool.index)}`}`
  const startedBy = new Map<TracedRun, string>()
  for (const tool of [null, ...[...byAgent.keys()].filter((key) => key !== null)]) {
    const own = byAgent.get(tool) ?? []
    if (tool !== null && own.every(({ value }) => value.run_type !== 'llm')) continue
    const { run, system, isCut } = addRuns(own, { ...log, startedBy })
    yield builtTrajectory({
      format: 'langsmith',
      id: idOfAgent(tool),
      group,
      system,
      ...run.finish(),
      truncated: isCut,
      parent: tool === null ? null : idOfAgent(tool.tool),
      parentCall: tool === null ? null : (startedBy.get(tool) ?? null),
      source: { file: log.file.name, index: own[0]?.index ?? 0 },
    })
  }
}

function grouped<T, K>(values: readonly T[], keyOf: (value: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const value of values) {
    const known = groups.get(keyOf(value))
    if (known === undefined) groups.set(keyOf(value), [value])
    else known.push(value)
  }
  return groups
}

/** The conversation that several traces belong to. */
function threadOf(members: readonly JsonObject[]): string | null {
  for (const run of members) {
    const metadata = objectOf(objectOf(run.extra).metadata)
    const thread = idOf(metadata.thread_id) ?? idOf(metadata.session_id) ?? idOf(metadata.conversation_id)
    if (thread !== null) return thread
  }
  return null
}

/** The llm and tool runs of one agent, in order. */
function addRuns(
  runs: readonly TracedRun[],
  { file, context, startedBy }: Trace & { readonly startedBy: Map<TracedRun, string> },
): { readonly run: RunBuilder; readonly system: string; readonly isCut: boolean } {
  const run = createRunBuilder()
  const system: string[] = []
  const history = createHistory()
  let tools: TracedRun[] = []
  let calls: ToolCall[] = []
  let isCut = false
  const addTools = (): void => {
    for (const tool of tools) addToolRun(run, tool, context)
    tools = []
  }
  for (const traced of runs) {
    const source = { file: file.name, index: traced.index }
    if (traced.value.run_type === 'tool') {
      tools.push(traced)
      const [call] = calls.splice(calls.findIndex((open) => isCallOf(open, traced)) >>> 0, 1)
      if (typeof call?.id === 'string') startedBy.set(traced, call.id)
      continue
    }
    const output = outputMessage(traced.value)
    isCut = output === null || wasStopped(output)
    if (output === null) {
      context.ignore('failed model call')
      continue
    }
    for (const message of history.unseen(inputMessages(traced.value)))
      addLangChainMessage(run, message, { source, context, system })
    addTools()
    const parts = modelParts(output.fields)
    run.call({ ...parts, source })
    calls = [...parts.toolCalls]
    history.answered(inputMessages(traced.value), output)
  }
  addTools()
  return { run, system: system.join('\n\n'), isCut }
}

function isCallOf(call: ToolCall, { value }: TracedRun): boolean {
  const { callId } = toolOutput(value)
  return callId === null || call.id === null ? call.name === value.name : call.id === callId
}

/** A call that the next inputs have answered has its result already. An agent of plain text has no calls: by order. */
function addToolRun(run: RunBuilder, { value }: TracedRun, context: ReadContext): void {
  const output = toolOutput(value)
  const pairing = run.result({ ...output, name: idOf(value.name) })
  if (pairing !== 'orphan') return
  if (run.result({ ...output, callId: null, name: null }) !== 'paired') context.ignore('tool run without a call')
}

interface MessageHistory {
  /** Messages that no earlier call has seen: by what they say and how often they say it. */
  unseen(messages: readonly LangChainMessage[]): readonly LangChainMessage[]
  answered(messages: readonly LangChainMessage[], output: LangChainMessage): void
}

function createHistory(): MessageHistory {
  const seen = new Map<string, number>()
  const counted = (
    messages: readonly LangChainMessage[],
  ): readonly { message: LangChainMessage; key: string; nth: number }[] => {
    const counts = new Map<string, number>()
    return messages.map((message) => {
      const key = fingerprint(message)
      const nth = (counts.get(key) ?? 0) + 1
      counts.set(key, nth)
      return { message, key, nth }
    })
  }
  const note = (key: string, nth: number): void => void seen.set(key, Math.max(seen.get(key) ?? 0, nth))
  return {
    unseen(messages) {
      const fresh = counted(messages).filter(({ key, nth }) => nth > (seen.get(key) ?? 0))
      for (const { key, nth } of fresh) note(key, nth)
      return fresh.map(({ message }) => message)
    },
    answered(messages, output) {
      const answer = counted([...messages, output]).at(-1)
      if (answer !== undefined) note(answer.key, answer.nth)
    },
  }
}

function fingerprint({ kind, fields }: LangChainMessage): string {
  if (kind !== 'ai') return JSON.stringify([kind, contentText(fields.content), fields.tool_call_id ?? null])
  const { text, toolCalls } = modelParts(fields)
  return JSON.stringify([kind, text, toolCalls.map((call) => call.id ?? [call.name, call.arguments])])
}
