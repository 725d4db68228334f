/** All provider formats, by name. */
import { aiSdk } from './ai-sdk/format.ts'
import { anthropicMessages } from './anthropic-messages/format.ts'
import { geminiContents } from './gemini-contents/format.ts'
import type { HistoryFormat } from './history.ts'
import { openAiChat } from './openai-chat/format.ts'
import { openAiResponses } from './openai-responses/format.ts'
import type { ProviderFormat } from './provider-format.ts'

export const FORMATS: Readonly<Record<HistoryFormat, ProviderFormat>> = {
  'openai-chat': openAiChat,
  'openai-responses': openAiResponses,
  'anthropic-messages': anthropicMessages,
  'gemini-contents': geminiContents,
  'ai-sdk': aiSdk,
}
