/**
 * A canonical trajectory as a history that can be sent: imported logs in any provider's form. Pure.
 */
import type { Interaction, Trajectory } from '../../trajectory/trajectory.ts'
import type { HistoryFormat, JsonValue } from '../history.ts'
import { parseHistory } from '../parse-history.ts'
import { type Conversion, convertHistory } from './convert-history.ts'

/**
 * Turns stand as user messages in their places, calls and results are paired by place where the log has no ids, and
 * reasoning is left out. Losses as convertHistory names them.
 */
export function trajectoryHistory(trajectory: Trajectory, target: HistoryFormat): Conversion {
  const { system, task, interactions, turns } = trajectory
  const turnsBefore = (index: number): readonly JsonValue[] =>
    turns.filter((turn) => turn.before === index).map((turn) => ({ role: 'user', content: turn.text }))
  const end = (interactions.at(-1)?.index ?? -1) + 1
  const messages: readonly JsonValue[] = [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    ...(task === '' ? [] : [{ role: 'user', content: task }]),
    ...interactions.flatMap((interaction) => [...turnsBefore(interaction.index), ...interactionMessages(interaction)]),
    ...turns.filter((turn) => turn.before >= end).map((turn) => ({ role: 'user', content: turn.text })),
  ]
  return convertHistory(parseHistory(JSON.stringify(messages), 'openai-chat'), target)
}

/** The model's message, the results of its calls, and what came back without a call as a message of the user. */
function interactionMessages({ index, text, toolCalls, observations }: Interaction): readonly JsonValue[] {
  const ids = toolCalls.map((call, number) => call.id ?? `call_${index}_${number}`)
  const open = new Set(ids)
  const answers: JsonValue[] = []
  const said: JsonValue[] = []
  for (const { callId, content } of observations) {
    const id = callId !== null && open.has(callId) ? callId : callId === null ? [...open][0] : undefined
    if (id === undefined) said.push({ role: 'user', content })
    else {
      open.delete(id)
      answers.push({ role: 'tool', tool_call_id: id, content })
    }
  }
  const calls = toolCalls.map((call, number) => ({
    id: ids[number] ?? '',
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }))
  if (text === '' && calls.length === 0) return said
  const message = { role: 'assistant', content: text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
  return [message, ...answers, ...said]
}
