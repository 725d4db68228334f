/**
 * Anthropic Messages: bare lists, request bodies, JSONL of either or of single messages.
 */
import { chatShape, isOtherAgentsLog, messageLog, readChatLog } from './chat-log.ts'
import type { Importer } from './importer.ts'
import { arrayOf, isObject } from './json-value.ts'

/** Content blocks that only this format has; plain user and assistant strings could be either. */
const OWN_BLOCKS = ['tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'server_tool_use', 'compaction']

const LOG = messageLog('anthropic-messages')

export const anthropicMessages: Importer = {
  name: 'anthropic-messages',
  summary: 'Anthropic Messages (a list, a request body, or JSONL of them)',
  detect(sample) {
    const shape = chatShape(sample, LOG)
    if (shape === null || isOtherAgentsLog(shape)) return null
    const isForeign = shape.messages.some(
      (message) => (message.role !== 'user' && message.role !== 'assistant') || 'tool_calls' in message,
    )
    if (isForeign) return null
    const blocks = shape.messages.flatMap((message) => arrayOf(message.content)).filter(isObject)
    if (blocks.some((block) => block.type === 'image_url' || block.type === 'toolCall')) return null
    const marks = OWN_BLOCKS.filter((type) => blocks.some((block) => block.type === type))
    if (shape.bodies.some((body) => 'system' in body)) marks.push('a system field')
    return {
      because:
        marks.length > 0 ? `messages with ${marks.join(', ')}` : 'messages of roles user and assistant with plain text',
    }
  },
  read: (file, context) => readChatLog(file, LOG, context),
}
