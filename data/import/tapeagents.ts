/**
 * TapeAgents tape: {metadata, context, steps[]}; a step's `kind` ends in _observation, _thought or _action, and
 * `metadata.prompt_id` is the model call that wrote it. `set_next_node` and its like steer the agent's program.
 */
import { AppError } from '../../src/errors.ts'
import { toWellFormed } from '../../src/protocol/well-formed.ts'
import { taskGroup, webTaskGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf } from './json-value.ts'
import { pairResult } from './pair-result.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

/** Steps that name the next part of the agent's program or pass the word to another agent. */
const CONTROL_KINDS = new Set(['set_next_node', 'pass', 'call', 'respond', 'final_step', 'jump'])

export const tapeAgents: Importer = {
  name: 'tapeagents',
  summary: 'TapeAgents tapes (JSON with steps of kind ..._observation, ..._thought, ..._action)',
  detect({ document }) {
    if (!isObject(document)) return null
    const steps = arrayOf(document.steps).filter(isStep)
    const known = steps.filter((step) => /_(?:observation|thought|action)$/.test(stringOf(step.kind))).length
    return known === 0 || !('metadata' in document)
      ? null
      : { because: `${known} steps of kind observation, thought or action` }
  },
  async *read(file, context) {
    const { document } = file.sample
    if (!isObject(document) || !Array.isArray(document.steps))
      throw new AppError('log-malformed', `${file.name} is no tape: it has no steps list`)
    const tape: Tape = {
      run: createRunBuilder(),
      file,
      context,
      call: null,
      system: [],
      lastAction: '',
      isFinished: false,
    }
    for (const [index, step] of document.steps.entries()) {
      if (isStep(step)) addStep(tape, step, index)
      else context.damage({ index, reason: 'step has no kind' })
    }
    const metadata = objectOf(document.metadata)
    const built = tape.run.finish()
    const name = /(?:^|_)seed\d+_(.+)$/.exec(fileStem(file.name))?.[1]
    yield builtTrajectory({
      id: `tapeagents/${idOf(metadata.id) ?? `${fileStem(file.name)}-${file.sha256.slice(0, 8)}`}`,
      group: name === undefined ? taskGroup('tapeagents', built.task) : webTaskGroup('tapeagents', name),
      format: 'tapeagents',
      system: toWellFormed(tape.system.join('\n\n')),
      ...built,
      truncated: !tape.isFinished && !/answer|finish|stop/.test(tape.lastAction),
      source: { file: file.name },
    })
  },
}

interface Tape {
  readonly run: RunBuilder
  readonly file: LogFile
  readonly context: ReadContext
  /** The model call that further steps may belong to. */
  call: { readonly index: number; readonly promptId: string | null } | null
  readonly system: string[]
  /** Kind of the last step by which the agent acts or speaks. */
  lastAction: string
  /** The environment said that the task is over. */
  isFinished: boolean
}

function isStep(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.kind === 'string'
}

function addStep(tape: Tape, step: JsonObject, index: number): void {
  const { run, file } = tape
  const kind = stringOf(step.kind)
  const source = { file: file.name, index }
  if (CONTROL_KINDS.has(kind)) tape.context.ignore(kind)
  else if (kind === 'system') tape.system.push(contentOf(step))
  else if (kind === 'user' || kind === 'task' || kind === 'question') {
    tape.call = null
    run.turn('user', contentOf(step), source)
  } else if (isObservation(kind)) addObservation(tape, step, index)
  else if (
    kind === 'assistant' ||
    /_(?:thought|action)$/.test(kind) ||
    idOf(objectOf(step.metadata).prompt_id) !== null
  )
    addModelStep(tape, step, index)
  else tape.context.ignore(`unknown ${kind}`)
}

function isObservation(kind: string): boolean {
  return kind === 'tool' || kind === 'tool_result' || kind.endsWith('_observation') || kind.endsWith('_result')
}

function addModelStep(tape: Tape, step: JsonObject, index: number): void {
  const { run } = tape
  const kind = stringOf(step.kind)
  const promptId = idOf(objectOf(step.metadata).prompt_id)
  const source = { file: tape.file.name, index }
  if (tape.call === null || tape.call.promptId !== promptId) {
    const actor = idOf(objectOf(step.metadata).agent)
    tape.call = { index: run.call({ actor, reasoning: '', text: '', toolCalls: [], source }), promptId }
  }
  const content = contentOf(step)
  if (kind === 'assistant') run.extend(tape.call.index, { reasoning: '', text: content, toolCalls: [] })
  else if (kind.endsWith('_action')) {
    const toolCall = { id: idOf(step.tool_call_id), name: kind, arguments: content }
    run.extend(tape.call.index, { reasoning: '', text: '', toolCalls: [toolCall] })
  } else run.extend(tape.call.index, { reasoning: content, text: '', toolCalls: [] })
  if (!kind.endsWith('_thought')) tape.lastAction = kind
}

/** What the agent sees before it has acted is context; afterwards it answers the newest action. */
function addObservation(tape: Tape, step: JsonObject, index: number): void {
  const { run, context } = tape
  const source = { file: tape.file.name, index }
  const error = stringOf(step.error)
  if (objectOf(objectOf(step.metadata).other).env_finished === true) tape.isFinished = true
  const content = [error, contentOf(step)].filter((text) => text !== '').join('\n')
  tape.call = null
  if (run.count === 0) run.turn('context', content, source)
  else {
    const result = { callId: idOf(step.tool_call_id), name: null, content, isError: error !== '' }
    pairResult(run, result, { source, context })
  }
}

/** The one text of a step, else its fields as JSON, without those of the framework. */
function contentOf(step: JsonObject): string {
  const { metadata, kind, error, tool_call_id, ...fields } = step
  const values = Object.entries(fields).filter(([, value]) => value !== null && value !== '')
  const texts = ['text', 'content', 'task', 'reasoning', 'thought'].filter((key) => typeof fields[key] === 'string')
  const [key] = texts
  const isAction = typeof kind === 'string' && kind.endsWith('_action')
  if (key !== undefined && !isAction && (values.length === 1 || typeof fields.current_page === 'number'))
    return toWellFormed(stringOf(fields[key]))
  return toWellFormed(JSON.stringify(Object.fromEntries(values)))
}
