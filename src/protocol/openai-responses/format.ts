/** OpenAI Responses: a flat list of items. */
import type { ProviderFormat } from '../provider-format.ts'
import { loneSurrogateRule } from '../rules/lone-surrogates.ts'
import { RESPONSES_EDITS } from './edits.ts'
import { readItemRole } from './item-kind.ts'
import { RESPONSES_RULES } from './rules.ts'
import { readResponsesSegments } from './segments.ts'
import { continuesStored } from './stored-state.ts'
import { writeOpenAiResponses } from './write.ts'

/**
 * A model call is a run of assistant items: they have no common id, so reasoning, messages and calls up to the next output
 * or user item count as one (formats.md). `items` is how lists are logged, `output` the list of a response body.
 */
export const openAiResponses: ProviderFormat = {
  name: 'openai-responses',
  noun: 'items',
  listFields: ['input', 'items', 'output'],
  blockField: 'content',
  systemField: 'instructions',
  modelCall: 'run',
  batch: 'run',
  lateResults: true,
  continuesStored,
  readRole: readItemRole,
  readSegments: readResponsesSegments,
  rules: [...RESPONSES_RULES, loneSurrogateRule('openai-responses')],
  imageTokens: 'openai',
  userMessage: (text) => ({ type: 'message', role: 'user', content: text }),
  edits: RESPONSES_EDITS,
  write: writeOpenAiResponses,
}
