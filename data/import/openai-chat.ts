/**
 * OpenAI chat completions messages: bare lists, request bodies, JSONL of either or of single messages.
 */
import { chatShape, isOtherAgentsLog, messageLog, readChatLog } from './chat-log.ts'
import type { Importer } from './importer.ts'
import { arrayOf, isObject, type JsonObject } from './json-value.ts'

/** What only this format has; plain user and assistant strings could be either. */
const MARKS: readonly { readonly what: string; readonly test: (message: JsonObject) => boolean }[] = [
  { what: 'tool_calls', test: (message) => 'tool_calls' in message },
  { what: 'role tool', test: (message) => message.role === 'tool' || message.role === 'function' },
  { what: 'role system', test: (message) => message.role === 'system' || message.role === 'developer' },
  {
    what: 'image_url',
    test: (message) => arrayOf(message.content).some((block) => isObject(block) && block.type === 'image_url'),
  },
]
const FOREIGN_BLOCKS = ['tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'toolCall']

const LOG = messageLog('openai-chat')

export const openAiChat: Importer = {
  name: 'openai-chat',
  summary: 'OpenAI chat messages (a list, a request body, or JSONL of them)',
  detect(sample) {
    const shape = chatShape(sample, LOG)
    if (shape === null || isOtherAgentsLog(shape)) return null
    const hasForeign = shape.messages.some((message) =>
      arrayOf(message.content).some((block) => isObject(block) && FOREIGN_BLOCKS.includes(String(block.type))),
    )
    if (hasForeign || shape.bodies.some((body) => 'system' in body)) return null
    const marks = MARKS.filter((mark) => shape.messages.some(mark.test)).map((mark) => mark.what)
    if (marks.length > 0) return { because: `messages with ${marks.join(', ')}` }
    return shape.messages.some((message) => message.role !== 'user' && message.role !== 'assistant')
      ? null
      : { because: 'messages of roles user and assistant with plain text' }
  },
  read: (file, context) => readChatLog(file, LOG, context),
}
