/** Vercel AI SDK ModelMessage (ai 6; CoreMessage of ai 4 is read, and what it spells differently is reported). */
import type { MessageRole } from '../history.ts'
import type { ProviderFormat } from '../provider-format.ts'
import { readNamedRole } from '../read-named-role.ts'
import { loneSurrogateRule } from '../rules/lone-surrogates.ts'
import { AI_SDK_CONTENT_RULES } from './content-rules.ts'
import { AI_SDK_EDITS } from './edits.ts'
import { AI_SDK_PAIRING_RULES } from './pairing-rules.ts'
import { readAiSdkSegments } from './segments.ts'
import { writeAiSdk } from './write.ts'

const ROLES: Readonly<Record<string, MessageRole>> = {
  system: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
}

/** `prompt` is a string or the same list, by either of the two names that streamText takes. */
export const aiSdk: ProviderFormat = {
  name: 'ai-sdk',
  noun: 'messages',
  listFields: ['messages', 'prompt'],
  blockField: 'content',
  systemField: 'system',
  systemAliases: ['instructions'],
  toolsAreMap: true,
  modelCall: 'message',
  batch: 'message',
  readRole: (value, path) => readNamedRole(value, path, { format: 'ai-sdk', roles: ROLES }),
  readSegments: readAiSdkSegments,
  rules: [...AI_SDK_PAIRING_RULES, ...AI_SDK_CONTENT_RULES, loneSurrogateRule('ai-sdk')],
  // Any provider may stand behind it: the commonest.
  imageTokens: 'openai',
  userMessage: (text) => ({ role: 'user', content: text }),
  edits: AI_SDK_EDITS,
  write: writeAiSdk,
}
