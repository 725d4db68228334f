/**
 * OpenHands logs: events of the SDK (JSONL or one list), the completion log of a model call (its request holds the run so
 * far), and the step lists of its DevAI runs. The state file of a conversation and a single event file hold no run: they
 * are refused by name.
 */
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { instanceGroup, sessionGroup, sweBenchInstance, taskGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { isObject } from './json-value.ts'
import { addCompletion, isCompletion } from './openhands-completion.ts'
import { addEvent, createEventRun, isEvent } from './openhands-events.ts'
import { addSteps, isStep } from './openhands-steps.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

export const openHands: Importer = {
  name: 'openhands',
  summary: 'OpenHands SDK events (JSONL or a list), completion logs, DevAI step lists',
  detect({ document, records }) {
    const events = (Array.isArray(document) ? document : records).filter(isEvent).length
    if (events > 0) return { because: `${events} records are events of a conversation with kind and source` }
    if (isEvent(document)) return { because: 'a single event of a conversation' }
    if (isCompletion(document)) return { because: 'a model call with its messages, response and latency_sec' }
    if (isState(document)) return { because: 'the state of a conversation: agent settings, workspace and status' }
    const steps = Array.isArray(document) ? document.filter(isStep).length : 0
    return steps === 0 ? null : { because: `${steps} steps with agent thought, action and environment` }
  },
  async *read(file, context) {
    const { document } = file.sample
    if (isState(document))
      throw refused(
        file,
        'is the state of an OpenHands conversation, it holds no event: import its events as one JSONL',
      )
    if (isEvent(document))
      throw refused(
        file,
        'is one event of an OpenHands conversation: join the files of its events folder into one JSONL',
      )
    if (Array.isArray(document) && document.some(isStep)) {
      const run = createRunBuilder()
      yield trajectoryOf(file, { run, ...addSteps(run, document, { file, context }) })
    } else if (isCompletion(document)) {
      const run = createRunBuilder()
      yield trajectoryOf(file, { run, ...addCompletion(run, document, { file, context }) })
    } else yield await readEvents(file, context)
  },
}

function isState(value: unknown): boolean {
  return (
    isObject(value) && isObject(value.agent) && isObject(value.agent.llm) && ('workspace' in value || 'stats' in value)
  )
}

function refused(file: LogFile, why: string): AppError {
  return new AppError('log-malformed', `${file.name} ${why}`)
}

async function readEvents(file: LogFile, context: ReadContext): Promise<Trajectory> {
  const state = createEventRun(context)
  let count = 0
  const add = (value: unknown, place: { readonly line: number } | { readonly index: number }): void => {
    if (!isEvent(value)) {
      context.damage({ ...place, reason: 'record is no event of an OpenHands conversation: it has no kind' })
      return
    }
    count += 1
    addEvent(state, value, { file: file.name, ...place })
  }
  if (Array.isArray(file.sample.document))
    for (const [index, value] of file.sample.document.entries()) add(value, { index })
  else
    for await (const line of file.lines()) {
      if (line.kind === 'problem') context.damage({ line: line.line, reason: line.reason })
      else add(line.value, { line: line.line })
    }
  if (count === 0) throw refused(file, 'holds no OpenHands event, completion or step')
  return trajectoryOf(file, { run: state.run, system: state.system.join('\n\n'), truncated: state.isCut })
}

function trajectoryOf(
  file: LogFile,
  log: { readonly run: RunBuilder; readonly system?: string; readonly truncated?: boolean },
): Trajectory {
  const built = log.run.finish()
  const stem = fileStem(file.name)
  const own = `${stem}-${file.sha256.slice(0, 8)}`
  const instance = sweBenchInstance(stem)
  const group = built.task.trim() === '' ? sessionGroup('openhands', own) : taskGroup('openhands', built.task)
  return builtTrajectory({
    format: 'openhands',
    id: `openhands/${own}`,
    group: instance === null ? group : instanceGroup('openhands', instance),
    system: log.system ?? '',
    ...built,
    truncated: log.truncated === true,
    source: { file: file.name },
  })
}
