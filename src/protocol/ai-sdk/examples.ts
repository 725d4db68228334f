/** JSON texts for the rules' minimal examples. Pure. */

export const ASK = '{"role":"user","content":"go"}'

export function call(id: string): string {
  return `{"type":"tool-call","toolCallId":"${id}","toolName":"ls","input":{}}`
}

export function result(id: string, output = '{"type":"text","value":"ok"}'): string {
  return `{"type":"tool-result","toolCallId":"${id}","toolName":"ls","output":${output}}`
}

export function assistant(...parts: readonly string[]): string {
  return `{"role":"assistant","content":[${parts.join(',')}]}`
}

export function tool(...parts: readonly string[]): string {
  return `{"role":"tool","content":[${parts.join(',')}]}`
}

export function list(...messages: readonly string[]): string {
  return `[${messages.join(',')}]`
}

/** One call, answered. */
export const VALID = list(ASK, assistant(call('a')), tool(result('a')))
