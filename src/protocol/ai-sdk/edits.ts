/** AI SDK model messages: what a repair has to know. Pure. */
import type { JsonValue } from '../history.ts'
import type { FormatEdits } from '../repair/format-edits.ts'
import { isObject } from '../segment.ts'

export const AI_SDK_EDITS: FormatEdits = {
  callId: () => ['toolCallId'],
  callArguments: (part) => [part.input === undefined && part.args !== undefined ? 'args' : 'input'],
  resultId: () => ['toolCallId'],
  resultContent: (part) => [part.output === undefined && part.result !== undefined ? 'result' : 'output'],
  ids: { pattern: /^/, maxChars: Number.POSITIVE_INFINITY, uniqueIn: 'batch' },
  results: 'next',
  firstRole: 'any',
  fixes: { V6: 'drop', V8: 'wrap' },
  wrapContent,
  closeCall: ({ id, name }, _, text) => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'error-text', value: text } }],
  }),
}

/** Bare values, as version 4 has them in `result`: a string is text, anything else JSON. */
function wrapContent(key: string, raw: string): { readonly key: string; readonly text: string } | null {
  const value: JsonValue = JSON.parse(raw)
  if (key === 'output' && isObject(value) && typeof value.type === 'string') return null
  const type = typeof value === 'string' ? 'text' : 'json'
  return { key: 'output', text: `{"type":"${type}","value":${raw}}` }
}
