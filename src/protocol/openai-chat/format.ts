/** OpenAI chat completions. */
import type { MessageRole } from '../history.ts'
import type { ProviderFormat } from '../provider-format.ts'
import { readNamedRole } from '../read-named-role.ts'
import { loneSurrogateRule } from '../rules/lone-surrogates.ts'
import { OPENAI_EDITS } from './edits.ts'
import { OPENAI_RULES } from './rules.ts'
import { readOpenAiSegments } from './segments.ts'
import { writeOpenAiChat } from './write.ts'

const ROLES: Readonly<Record<string, MessageRole>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

export const openAiChat: ProviderFormat = {
  name: 'openai-chat',
  noun: 'messages',
  listFields: ['messages'],
  blockField: 'content',
  systemField: 'system',
  modelCall: 'message',
  batch: 'message',
  readRole: (value, path) => readNamedRole(value, path, { format: 'openai-chat', roles: ROLES }),
  readSegments: readOpenAiSegments,
  rules: [...OPENAI_RULES, loneSurrogateRule('openai-chat')],
  imageTokens: 'openai',
  userMessage: (text) => ({ role: 'user', content: text }),
  edits: OPENAI_EDITS,
  write: writeOpenAiChat,
}
