/** OpenAI Responses: what a repair has to know. Pure. */
import type { FormatEdits } from '../repair/format-edits.ts'

export const RESPONSES_EDITS: FormatEdits = {
  callId: () => ['call_id'],
  callArguments: () => null,
  resultId: () => ['call_id'],
  resultContent: (item) => [item.type === 'program_output' ? 'result' : 'output'],
  ids: { pattern: /^/, maxChars: 64, uniqueIn: 'request' },
  results: 'anywhere',
  firstRole: 'any',
  fixes: { R3: 'unbind', R7: 'drop' },
  closeCall: ({ id }, value, text) => {
    switch (value.type) {
      case 'shell_call':
        return {
          type: 'shell_call_output',
          call_id: id,
          output: [{ stdout: '', stderr: text, outcome: { type: 'exit', exit_code: 1 } }],
        }
      case 'apply_patch_call':
        return { type: 'apply_patch_call_output', call_id: id, status: 'failed', output: text }
      case 'program':
        return { type: 'program_output', call_id: id, status: 'incomplete', result: text }
      default:
        return {
          type: typeof value.type === 'string' ? `${value.type}_output` : 'function_call_output',
          call_id: id,
          output: text,
        }
    }
  },
}
