/**
 * AI SDK model messages (version 4 calls them core messages): bare lists, options of streamText, JSONL of either or of single
 * messages. Plain strings alone could be OpenAI chat as well and are not claimed.
 */
import { isAiSdkPart } from './ai-sdk-part.ts'
import { type ChatLogKind, chatShape, readChatLog } from './chat-log.ts'
import type { Importer } from './importer.ts'
import { arrayOf, isObject } from './json-value.ts'

const LOG: ChatLogKind = {
  format: 'ai-sdk',
  isMessage: (value) => isObject(value) && typeof value.role === 'string' && 'content' in value && !('parts' in value),
}

export const aiSdk: Importer = {
  name: 'ai-sdk',
  summary: 'AI SDK model messages (a list, options with messages, or JSONL of them)',
  detect(sample) {
    const shape = chatShape(sample, LOG)
    const parts = shape?.messages.flatMap(({ content }) => arrayOf(content)).filter(isAiSdkPart) ?? []
    if (parts.length === 0) return null
    const types = new Set(parts.map((part) => (isObject(part) ? String(part.type) : '')))
    return { because: `messages with ${[...types].join(', ')}` }
  },
  read: (file, context) => readChatLog(file, LOG, context),
}
