/**
 * A history that somebody cut in the middle of the agent's work begins at the next turn of the user instead. Pure.
 */
import { FORMATS } from '../formats.ts'
import { jsonPointer } from '../json-pointer.ts'
import { readSegments } from '../read-segments.ts'
import type { Stage } from './stage.ts'
import { historyOf, inputPointer } from './working-list.ts'

export const cutHead: Stage = ({ base, list, complaints }) => {
  if (FORMATS[base.format].edits.firstRole === 'any') return { list, changes: [] }
  const history = historyOf(base, list)
  const first = history.messages.findIndex(({ role }) => role !== 'system')
  const role = history.messages[first]?.role
  if (role === undefined || role === 'user' || !complaints.about(first)) return { list, changes: [] }
  const start = history.messages.findIndex(
    (message, number) =>
      message.role === 'user' && readSegments(history, message, number).some(({ kind }) => kind !== 'result'),
  )
  // Without a turn of the user there is nothing to begin with: the violation remains.
  if (start === -1) return { list, changes: [] }
  const pointer = jsonPointer([base.listField, first])
  const dropped = list.slice(0, start).filter(({ message }) => message.role !== 'system')
  const sentence = `the history began in the middle of the agent's work: what stands before the first turn of the user was dropped (messages: ${dropped.length})`
  return {
    list: list.filter(({ message }, number) => number >= start || message.role === 'system'),
    changes: [
      { rule: complaints.ruleOf(pointer), pointer: inputPointer(base, list, pointer), action: 'dropped', sentence },
    ],
  }
}
