/**
 * Steps of an ATIF trajectory -> interactions. Steps that a compaction or a fork copied in are no model calls of this run:
 * they are counted and left out.
 */
import type { Interaction, Observation, SourceRef, Turn } from '../../src/trajectory/trajectory.ts'
import { contentText } from './content-text.ts'
import type { ReadContext } from './importer.ts'
import { arrayOf, idOf, isObject, type JsonObject, objectOf, stringOf, textOf } from './json-value.ts'
import { splitTask } from './run-builder.ts'

export interface AtifRun {
  readonly system: string
  readonly interactions: readonly Interaction[]
  readonly turns: readonly Turn[]
  readonly task: string
  /** Id of a sub-agent's trajectory -> id of the call that started it. */
  readonly startedBy: ReadonlyMap<string, string>
}

export function readAtifSteps(
  steps: readonly unknown[],
  { file, context, place }: { readonly file: string; readonly context: ReadContext; readonly place: string },
): AtifRun {
  const system: string[] = []
  const interactions: Interaction[] = []
  const turns: Turn[] = []
  const startedBy = new Map<string, string>()
  const turn = (kind: Turn['kind'], text: string, source: SourceRef): void => {
    if (text.trim() !== '') turns.push({ before: interactions.length, kind, text, source })
  }
  steps.forEach((step, index) => {
    const source = { file, index }
    const damage = (reason: string): void => context.damage({ index, reason: `${place}${reason}` })
    if (!isObject(step) || typeof step.source !== 'string') {
      damage('step has no source')
      return
    }
    if (step.is_copied_context === true) {
      context.ignore('copied context step')
      return
    }
    const message = contentText(step.message)
    const results = arrayOf(objectOf(step.observation).results).filter(isObject)
    for (const result of results) noteSubAgents(result, startedBy)
    const observed = results.map((result) => contentText(result.content)).join('\n')
    if (step.source === 'agent' && isModelCall(step, message))
      interactions.push({
        index: interactions.length,
        actor: null,
        reasoning: contentText(step.reasoning_content),
        text: message,
        toolCalls: callsOf(step),
        observations: observationsOf(step, results, damage),
        source,
      })
    else if (step.source === 'agent') {
      context.ignore(
        message === '' && observed === '' ? 'agent step without content' : 'agent step without a model call',
      )
      turn(
        'context',
        [message, ...callsOf(step).map((call) => `${call.name} ${call.arguments}`), observed]
          .filter((text) => text !== '')
          .join('\n'),
        source,
      )
    } else if (step.source === 'user') turn('user', message, source)
    else if (isCompaction(step)) turn('summary', observed === '' ? message : observed, source)
    else if (interactions.length === 0 && turns.length === 0) system.push(message)
    else turn('context', [message, observed].filter((text) => text !== '').join('\n'), source)
  })
  return { system: system.join('\n\n'), interactions, ...splitTask(turns), startedBy }
}

/** 1.7 counts the model calls of a step: an agent's scripted steps have none. */
function isModelCall(step: JsonObject, message: string): boolean {
  if (step.llm_call_count === 0) return false
  return message !== '' || contentText(step.reasoning_content) !== '' || callsOf(step).length > 0
}

function isCompaction(step: JsonObject): boolean {
  const management = objectOf(step.extra).context_management
  return stringOf(isObject(management) ? management.type : management).includes('compaction')
}

function callsOf(step: JsonObject): Interaction['toolCalls'] {
  return arrayOf(step.tool_calls)
    .filter(isObject)
    .map((call) => ({
      id: idOf(call.tool_call_id),
      name: stringOf(call.function_name),
      arguments: textOf(call.arguments),
    }))
}

/** A result without source_call_id answers the step as a whole; several results may answer one call. ATIF marks no errors. */
function observationsOf(
  step: JsonObject,
  results: readonly JsonObject[],
  damage: (reason: string) => void,
): readonly Observation[] {
  const known = new Set(
    arrayOf(step.tool_calls)
      .filter(isObject)
      .map((call) => call.tool_call_id),
  )
  return results.map((result) => {
    const callId = idOf(result.source_call_id)
    const isKnown = callId === null || known.has(callId)
    if (!isKnown) damage(`orphan result of call ${callId}: kept as a result of its step`)
    return { callId: isKnown ? callId : null, content: contentText(result.content), isError: false }
  })
}

/** A ref names the sub-agent's trajectory_id; before 1.7 its session_id. */
function noteSubAgents(result: JsonObject, startedBy: Map<string, string>): void {
  const call = idOf(result.source_call_id)
  if (call === null) return
  for (const ref of arrayOf(result.subagent_trajectory_ref).filter(isObject)) {
    const id = idOf(ref.trajectory_id) ?? idOf(ref.session_id)
    if (id !== null) startedBy.set(id, call)
  }
}
