/**
 * OpenHands CodeAct runs of the llm-agents-study: {instance_id, steps:[{iteration, thought, action{name, arguments},
 * result}]}. The log holds no system prompt and no issue text.
 */
import { AppError } from '../../src/errors.ts'
import { toWellFormed } from '../../src/protocol/well-formed.ts'
import { instanceGroup } from '../groups.ts'
import { builtTrajectory } from './built-trajectory.ts'
import { fileStem } from './file-stem.ts'
import type { Importer, LogFile, ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, stringOf, textOf } from './json-value.ts'
import { createRunBuilder, type RunBuilder } from './run-builder.ts'

export const openHandsStudy: Importer = {
  name: 'openhands-study',
  summary: 'OpenHands runs of the llm-agents-study (JSON with instance_id and steps of thought, action, result)',
  detect({ document }) {
    if (!isObject(document) || typeof document.instance_id !== 'string') return null
    const steps = arrayOf(document.steps).filter(isStep).length
    return steps === 0 ? null : { because: `an instance_id and ${steps} steps of thought, action and result` }
  },
  async *read(file, context) {
    const { document } = file.sample
    if (!isObject(document) || !Array.isArray(document.steps))
      throw new AppError('log-malformed', `${file.name} is no run of the OpenHands study: it has no steps list`)
    const run = createRunBuilder()
    let expected = 0
    for (const [index, step] of document.steps.entries()) {
      if (!isStep(step)) {
        context.damage({ index, reason: 'step has no thought, action or result' })
        continue
      }
      if (typeof step.iteration === 'number') {
        if (step.iteration !== expected)
          context.damage({
            index,
            reason: `iteration ${step.iteration} stands where ${expected} is expected; it is kept`,
          })
        expected = step.iteration + 1
      }
      addStep(run, step, { file, context, index })
    }
    const instance = idOf(document.instance_id) ?? fileStem(file.name)
    yield builtTrajectory({
      id: `openhands-study/${instance}-${file.sha256.slice(0, 8)}`,
      group: instanceGroup('openhands-study', instance),
      format: 'openhands-study',
      ...run.finish(),
      // The runs end where the upstream files end; only a finish action says that the agent was done.
      truncated: false,
      source: { file: file.name },
    })
  },
}

function isStep(value: unknown): value is JsonObject {
  return isObject(value) && 'thought' in value && 'action' in value && 'result' in value
}

function addStep(
  run: RunBuilder,
  step: JsonObject,
  place: { readonly file: LogFile; readonly context: ReadContext; readonly index: number },
): void {
  const action = isObject(step.action) ? step.action : null
  const name = action === null ? null : idOf(action.name)
  if (name === null)
    place.context.damage({ index: place.index, reason: 'action has no name; the step is kept without it' })
  // Upstream writes a missing thought as the word None.
  const thought = stringOf(step.thought) === 'None' ? '' : stringOf(step.thought)
  run.call({
    reasoning: '',
    text: thought,
    toolCalls: name === null ? [] : [{ id: null, name, arguments: textOf(action?.arguments) }],
    source: { file: place.file.name, index: place.index },
  })
  if (step.result === null) return
  const content = toWellFormed(textOf(step.result))
  run.result({ callId: null, name: null, content, isError: /^ERROR:/.test(content) })
}
