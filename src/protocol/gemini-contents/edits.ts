/** Gemini contents: what a repair has to know. Pure. */
import type { FormatEdits } from '../repair/format-edits.ts'
import type { JsonObject } from '../segment.ts'
import { partField } from './part-field.ts'

export const GEMINI_EDITS: FormatEdits = {
  callId: (part) => [keyOf(part, 'functionCall'), 'id'],
  callArguments: (part) => [keyOf(part, 'functionCall'), 'args'],
  resultId: (part) => [keyOf(part, 'functionResponse'), 'id'],
  resultContent: (part) => [keyOf(part, 'functionResponse'), 'response'],
  ids: { pattern: /^/, maxChars: Number.POSITIVE_INFINITY, uniqueIn: 'batch' },
  results: 'one-message',
  firstRole: 'user',
  fixes: { G6: 'wrap', G7: 'drop' },
  wrapContent: (_, raw) => (raw.startsWith('{') ? null : { key: 'response', text: `{"output":${raw}}` }),
  mergesCalls: true,
  holdsTheOthers: (part) => partField(part, 'thoughtSignature') !== null,
  closeCall: ({ id, name }, _, text) => ({
    role: 'user',
    parts: [{ functionResponse: { ...(id === null ? {} : { id }), name, response: { error: text } } }],
  }),
}

function keyOf(part: JsonObject, name: 'functionCall' | 'functionResponse'): string {
  return partField(part, name)?.key ?? name
}
