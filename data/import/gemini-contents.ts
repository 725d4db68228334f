/**
 * Gemini contents: bare lists, request bodies (`contents`, or `history` of a chat), JSONL of either or of single contents.
 * A compression of Gemini CLI stands in them as two contents, the state and an answer that no model gave: a summary turn and
 * nothing. A tool output that the CLI has masked since stays as it was sent.
 */
import type { HistoryMessage } from '../../src/protocol/history.ts'
import { type ChatLogKind, chatShape, readChatLog } from './chat-log.ts'
import { ACKNOWLEDGEMENT, INJECTED } from './gemini-cli-session.ts'
import type { Importer } from './importer.ts'
import { arrayOf, isObject } from './json-value.ts'
import { type JudgeMessage, messageText } from './set-aside.ts'

const ROLES: readonly unknown[] = ['user', 'model', 'function', 'tool', undefined]
const SNAPSHOT = /^\s*<state_snapshot>/

const judge: JudgeMessage = (message, before) => {
  if (message.role === 'assistant') {
    const isAnswer = before !== null && isSnapshot(before) && messageText(message).trim() === ACKNOWLEDGEMENT
    return isAnswer ? 'drop' : null
  }
  if (isSnapshot(message)) return 'summary'
  return message.role === 'user' && INJECTED.test(messageText(message)) ? 'context' : null
}

function isSnapshot(message: HistoryMessage): boolean {
  return message.role === 'user' && SNAPSHOT.test(messageText(message))
}

const LOG: ChatLogKind = {
  format: 'gemini-contents',
  // Parts of AI SDK UI messages have a type.
  isMessage: (value) =>
    isObject(value) &&
    ROLES.includes(value.role) &&
    Array.isArray(value.parts) &&
    value.parts.every((part) => isObject(part) && typeof part.type !== 'string'),
  judge,
}

export const geminiContents: Importer = {
  name: 'gemini-contents',
  summary: 'Gemini contents (a list, a request body, or JSONL of them)',
  detect(sample) {
    const shape = chatShape(sample, LOG)
    if (shape === null || shape.messages.every(({ parts }) => arrayOf(parts).length === 0)) return null
    const roles = new Set(shape.messages.map(({ role }) => String(role ?? 'user')))
    return { because: `contents with parts, of ${roles.size === 1 ? 'role' : 'roles'} ${[...roles].join(', ')}` }
  },
  read: (file, context) => readChatLog(file, LOG, context),
}
