/**
 * Reads a Python literal (what `repr` prints of lists, dicts, tuples, strings, numbers, booleans and None): some logs hold
 * their messages that way. Pure; never evaluates anything.
 */

const ESCAPED: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\u0007',
  '0': '\0',
}
const WORDS: Readonly<Record<string, unknown>> = { None: null, True: true, False: false }
/** Deeper than any log seen; a hostile one must not exhaust the stack. */
const MAX_DEPTH = 100

interface Parsed {
  readonly value: unknown
  /** Index behind the value. */
  readonly end: number
}

/** @returns undefined when the text is no literal, or holds something behind one (an object's repr, a torn end) */
export function parsePythonLiteral(text: string): { readonly value: unknown } | undefined {
  const parsed = valueAt(text, 0, 0)
  return parsed !== null && skipSpace(text, parsed.end) === text.length ? { value: parsed.value } : undefined
}

function valueAt(text: string, from: number, depth: number): Parsed | null {
  const at = skipSpace(text, from)
  const character = text[at]
  if (character === undefined || depth > MAX_DEPTH) return null
  if (character === '[' || character === '(') return listAt(text, at, depth)
  if (character === '{') return dictAt(text, at, depth)
  if (character === "'" || character === '"') return stringAt(text, at)
  return wordAt(text, at)
}

function listAt(text: string, start: number, depth: number): Parsed | null {
  const closer = text[start] === '[' ? ']' : ')'
  const value: unknown[] = []
  let at = skipSpace(text, start + 1)
  while (text[at] !== closer) {
    const element = valueAt(text, at, depth + 1)
    if (element === null) return null
    value.push(element.value)
    at = skipSpace(text, element.end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
    else if (text[at] !== closer) return null
  }
  return { value, end: at + 1 }
}

function dictAt(text: string, start: number, depth: number): Parsed | null {
  const entries: [string, unknown][] = []
  let at = skipSpace(text, start + 1)
  while (text[at] !== '}') {
    const key = valueAt(text, at, depth + 1)
    const colon = key === null ? -1 : skipSpace(text, key.end)
    if (key === null || text[colon] !== ':') return null
    const value = valueAt(text, colon + 1, depth + 1)
    if (value === null) return null
    entries.push([String(key.value), value.value])
    at = skipSpace(text, value.end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
    else if (text[at] !== '}') return null
  }
  return { value: Object.fromEntries(entries), end: at + 1 }
}

function stringAt(text: string, start: number): Parsed | null {
  const quote = text[start]
  const pieces: string[] = []
  let from = start + 1
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === quote) return { value: [...pieces, text.slice(from, at)].join(''), end: at + 1 }
    if (text[at] !== '\\') continue
    pieces.push(text.slice(from, at))
    const { value, end } = escapeAt(text, at + 1)
    pieces.push(value)
    from = end
    at = end - 1
  }
  return null
}

function escapeAt(text: string, at: number): { readonly value: string; readonly end: number } {
  const letter = text[at] ?? ''
  const digits = { x: 2, u: 4, U: 8 }[letter]
  const hex = digits === undefined ? '' : text.slice(at + 1, at + 1 + digits)
  const code = Number.parseInt(hex, 16)
  if (digits !== undefined && /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits && code <= 0x10ffff)
    return { value: String.fromCodePoint(code), end: at + 1 + digits }
  const known = ESCAPED[letter]
  if (known !== undefined) return { value: known, end: at + 1 }
  // Python leaves an unknown escape as it is.
  return { value: letter === '\\' || letter === "'" || letter === '"' ? letter : `\\${letter}`, end: at + 1 }
}

function wordAt(text: string, at: number): Parsed | null {
  const word = /^[-+]?[A-Za-z0-9_.+-]+/.exec(text.slice(at, at + 64))?.[0] ?? ''
  if (Object.hasOwn(WORDS, word)) return { value: WORDS[word], end: at + word.length }
  if (!/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(word)) return null
  return { value: Number(word), end: at + word.length }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1
  return at
}
