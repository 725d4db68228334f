/**
 * Models without prefill answer 400 to a request whose last message is the assistant's (A7), and want to be asked to go
 * on. Pure. Beside the result that closes a dead call this fixed line is the only text that the tool can add to a history,
 * and only when the caller asks for a history that can be sent as it is.
 */
import { FORMATS } from './formats.ts'
import type { History } from './history.ts'
import { parseOneMessage } from './parse-history.ts'

export const GO_ON_TEXT = 'Continue.'

/** The same history when its last message, system messages aside, is not the assistant's. */
export function endWithUser(history: History): History {
  const last = history.messages.findLast((message) => message.role !== 'system' && message.role !== 'opaque')
  if (last?.role !== 'assistant') return history
  const raw = JSON.stringify(FORMATS[history.format].userMessage(GO_ON_TEXT))
  return { ...history, messages: [...history.messages, parseOneMessage(raw, history, history.messages.length)] }
}
