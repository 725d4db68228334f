/** Anthropic Messages. */
import type { MessageRole } from '../history.ts'
import type { ProviderFormat } from '../provider-format.ts'
import { readNamedRole } from '../read-named-role.ts'
import { loneSurrogateRule } from '../rules/lone-surrogates.ts'
import { ANTHROPIC_CONTENT_RULES } from './content-rules.ts'
import { ANTHROPIC_EDITS } from './edits.ts'
import { ANTHROPIC_PAIRING_RULES } from './pairing-rules.ts'
import { readAnthropicSegments } from './segments.ts'
import { ANTHROPIC_THINKING_RULES } from './thinking-rules.ts'
import { writeAnthropicMessages } from './write.ts'

const ROLES: Readonly<Record<string, MessageRole>> = { user: 'user', assistant: 'assistant', system: 'system' }

/** Neighbouring messages of one role are combined into one turn (A6), so results may answer any of a run. */
export const anthropicMessages: ProviderFormat = {
  name: 'anthropic-messages',
  noun: 'messages',
  listFields: ['messages'],
  blockField: 'content',
  systemField: 'system',
  modelCall: 'message',
  batch: 'run',
  readRole: (value, path) => readNamedRole(value, path, { format: 'anthropic-messages', roles: ROLES }),
  readSegments: readAnthropicSegments,
  rules: [
    ...ANTHROPIC_PAIRING_RULES,
    ...ANTHROPIC_CONTENT_RULES,
    ...ANTHROPIC_THINKING_RULES,
    loneSurrogateRule('anthropic-messages'),
  ],
  imageTokens: 'anthropic',
  userMessage: (text) => ({ role: 'user', content: text }),
  edits: ANTHROPIC_EDITS,
  write: writeAnthropicMessages,
}
