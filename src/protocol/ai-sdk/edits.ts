/** AI SDK model messages: what a repair has to know. Pure. */
import type { FormatEdits } from '../repair/format-edits.ts'

export const AI_SDK_EDITS: FormatEdits = {
  callId: () => ['toolCallId'],
  callArguments: (part) => [part.input === undefined && part.args !== undefined ? 'args' : 'input'],
  resultId: () => ['toolCallId'],
  resultContent: (part) => [part.output === undefined && part.result !== undefined ? 'result' : 'output'],
  ids: { pattern: /^/, maxChars: Number.POSITIVE_INFINITY, uniqueIn: 'batch' },
  results: 'next',
  firstRole: 'any',
  fixes: { V6: 'drop', V8: 'wrap' },
  wrapContent: (raw) =>
    /^[{]/.test(raw) ? null : `{"type":"${raw.startsWith('"') ? 'text' : 'json'}","value":${raw}}`,
  closeCall: ({ id, name }, _, text) => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'error-text', value: text } }],
  }),
}
