/**
 * A JSON file that ends in the middle, or goes wrong somewhere: what is complete in it, as a document of its own. Pure.
 */

export interface TornJson {
  /** A valid JSON document: the outermost open list with its complete elements, everything around it closed. */
  readonly text: string
  /** The same, parsed. */
  readonly document: unknown
  /** Complete elements of that list; null when no list was cut. */
  readonly elementCount: number | null
  readonly reason: string
}

interface Open {
  readonly closer: '}' | ']'
  /** End of the last complete child, -1 before the first. */
  end: number
  children: number
}

const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/**
 * @returns null when no list has a complete element. The list is the outermost one that is open where the text goes wrong;
 * where none is open, the root object with its complete members, if one of them is a list; text after a whole root is
 * left out.
 */
export function recoverTornJson(text: string): TornJson | null {
  const { stack, rootEnd } = walk(text)
  if (rootEnd !== -1) {
    const left = text.length - rootEnd
    const reason = `${left} characters after the end of the document are left out`
    const root = text.slice(0, rootEnd)
    return { text: root, document: JSON.parse(root), elementCount: null, reason }
  }
  const list = stack.findIndex((open) => open.closer === ']')
  const at = Math.max(list, 0)
  const cut = stack[at]
  if (cut === undefined || cut.end === -1) return null
  const closers = stack.slice(0, at + 1).map((open) => open.closer)
  const whole = `${text.slice(0, cut.end)}${closers.reverse().join('')}`
  const document: object = JSON.parse(whole)
  if (list === -1 && !Object.values(document).some(Array.isArray)) return null
  const kept = `${cut.children} complete ${list === -1 ? 'members' : 'elements'} are kept`
  return {
    text: whole,
    document,
    elementCount: list === -1 ? null : cut.children,
    reason: `the file is torn or goes wrong in the middle: ${kept}, ${text.length - cut.end} characters after them are left out`,
  }
}

/** The text breaks off between two tokens and is JSON up to there: everything in it belongs to one torn document. */
export function breaksOffWhole(text: string): boolean {
  const { rootEnd, at } = walk(text)
  return rootEnd === -1 && at >= text.length
}

interface Walk {
  /** Containers that are open where the text ends or goes wrong. */
  readonly stack: readonly Open[]
  /** -1 unless the root is complete. */
  readonly rootEnd: number
  /** Where the walk ended: the token that is wrong, or the end of the text. */
  readonly at: number
}

function walk(text: string): Walk {
  const stack: Open[] = []
  let at = 0
  /** What may come next; at the start of a container its end may come too. */
  let next: 'value' | 'key' | 'comma' = 'value'
  let mayClose = false
  for (;;) {
    at = skipSpace(text, at)
    const top = stack.at(-1)
    const char = text[at]
    let end = -1
    if (char !== undefined && char === top?.closer && (next === 'comma' || mayClose)) {
      stack.pop()
      end = at + 1
    } else if (next === 'comma') {
      if (char !== ',') return { stack, rootEnd: -1, at }
      next = top?.closer === '}' ? 'key' : 'value'
      mayClose = false
      at += 1
      continue
    } else if (next === 'key') {
      const colon = char === '"' ? skipSpace(text, stringEnd(text, at)) : -1
      if (text[colon] !== ':') return { stack, rootEnd: -1, at }
      next = 'value'
      mayClose = false
      at = colon + 1
      continue
    } else if (char === '{' || char === '[') {
      stack.push({ closer: char === '{' ? '}' : ']', end: -1, children: 0 })
      next = char === '{' ? 'key' : 'value'
      mayClose = true
      at += 1
      continue
    } else end = char === '"' ? stringEnd(text, at) : scalarEnd(text, at)
    if (end === -1) return { stack, rootEnd: -1, at }
    const parent = stack.at(-1)
    if (parent === undefined) return { stack, rootEnd: end, at }
    parent.end = end
    parent.children += 1
    next = 'comma'
    at = end
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at >= 0 && at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
  return at
}

/** After the closing quote, or -1. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) return -1
      at = ESCAPE.lastIndex - 1
    } else if (code === 0x22) return at + 1
    else if (code < 0x20) return -1
  }
  return -1
}

/** A scalar that touches the end of the text, or goes on as no number does, may be cut. */
function scalarEnd(text: string, start: number): number {
  SCALAR.lastIndex = start
  const end = SCALAR.test(text) ? SCALAR.lastIndex : -1
  return end !== -1 && ',]} \t\r\n'.includes(text.charAt(end) || '?') ? end : -1
}
