/** OpenAI chat completions: what a repair has to know. Pure. */
import type { FormatEdits } from '../repair/format-edits.ts'
import { SAFE_ID_CHARS } from './rules.ts'

export const OPENAI_EDITS: FormatEdits = {
  callId: () => ['id'],
  callArguments: () => null,
  resultId: () => ['tool_call_id'],
  resultContent: () => ['content'],
  ids: { pattern: /^/, maxChars: SAFE_ID_CHARS, uniqueIn: 'batch' },
  results: 'next',
  firstRole: 'any',
  fixes: { C3: 'drop' },
  closeCall: ({ id, name }, _, text) =>
    id === null ? { role: 'function', name, content: text } : { role: 'tool', tool_call_id: id, content: text },
}
