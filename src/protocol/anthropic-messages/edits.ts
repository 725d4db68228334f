/** Anthropic Messages: what a repair has to know. Pure. */
import type { FormatEdits } from '../repair/format-edits.ts'

export const ANTHROPIC_EDITS: FormatEdits = {
  callId: () => ['id'],
  callArguments: () => ['input'],
  resultId: () => ['tool_use_id'],
  resultContent: () => ['content'],
  ids: { pattern: /^[a-zA-Z0-9_-]+$/, maxChars: Number.POSITIVE_INFINITY, uniqueIn: 'request' },
  results: 'next',
  firstRole: 'user',
  fixes: { A8: 'drop', A9: 'drop' },
  closeCall: ({ id }, _, text) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, is_error: true, content: text }],
  }),
}
