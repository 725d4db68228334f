/** JSON texts for the rules' minimal examples. Pure. */

export const ASK = '{"role":"user","parts":[{"text":"go"}]}'

/** `signed`: with a thought signature, which the first call of every step needs (G4). */
export function call(name: string, options: { readonly id?: string; readonly signed?: boolean } = {}): string {
  const id = options.id === undefined ? '' : `"id":"${options.id}",`
  const signature = options.signed === true ? ',"thoughtSignature":"c2lnbmVk"' : ''
  return `{"functionCall":{${id}"name":"${name}","args":{}}${signature}}`
}

export function response(name: string, id?: string): string {
  const own = id === undefined ? '' : `"id":"${id}",`
  return `{"functionResponse":{${own}"name":"${name}","response":{"output":"ok"}}}`
}

export function model(...parts: readonly string[]): string {
  return `{"role":"model","parts":[${parts.join(',')}]}`
}

export function user(...parts: readonly string[]): string {
  return `{"role":"user","parts":[${parts.join(',')}]}`
}

export function contents(...list: readonly string[]): string {
  return `[${list.join(',')}]`
}
