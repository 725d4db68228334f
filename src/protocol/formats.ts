/** All provider formats, by name. */
import { anthropicMessages } from './anthropic-messages/format.ts'
import type { HistoryFormat } from './history.ts'
import { openAiChat } from './openai-chat/format.ts'
import type { ProviderFormat } from './provider-format.ts'

export const FORMATS: Readonly<Record<HistoryFormat, ProviderFormat>> = {
  'openai-chat': openAiChat,
  'anthropic-messages': anthropicMessages,
}
