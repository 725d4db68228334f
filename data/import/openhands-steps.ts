/**
 * DevAI runs of OpenHands: a list of {step, user_message, agent{thought, action}, environment}. The usage fields of a step
 * are its own in step_usage and sums up to it in accumulated_usage; neither is text of the run.
 */
import { contentText } from './content-text.ts'
import type { LogFile, ReadContext } from './importer.ts'
import { isObject, type JsonObject, objectOf } from './json-value.ts'
import type { RunBuilder } from './run-builder.ts'

/** An action is one line of prose with its command: it names no tool. */
const COMMAND = 'command'

export function isStep(value: unknown): value is JsonObject {
  return isObject(value) && 'step' in value && 'environment' in value && isObject(value.agent)
}

export function addSteps(
  run: RunBuilder,
  steps: readonly unknown[],
  { file, context }: { readonly file: LogFile; readonly context: ReadContext },
): { readonly truncated: boolean } {
  let isCut = false
  steps.forEach((step, index) => {
    if (!isStep(step)) {
      context.damage({ index, reason: 'step has no agent, or no environment' })
      return
    }
    const source = { file: file.name, index }
    const thought = contentText(objectOf(step.agent).thought)
    const action = contentText(objectOf(step.agent).action)
    run.turn('user', contentText(step.user_message), source)
    if (thought === '' && action === '') {
      context.ignore('step without thought and action')
      return
    }
    const at = run.call({
      reasoning: action === '' ? '' : thought,
      text: action === '' ? thought : '',
      toolCalls: action === '' ? [] : [{ id: null, name: COMMAND, arguments: action }],
      source,
    })
    isCut = action !== '' && step.environment === null
    if (step.environment === null || step.environment === undefined) return
    run.result({ callId: null, name: null, content: contentText(step.environment), isError: false }, at)
  })
  return { truncated: isCut }
}
