/**
 * A look at JSON text before it is parsed: a safetensors header is an object of small objects, and one that is something
 * else, or that names a key twice (parsers disagree about which one counts), is refused for the price of one walk.
 */

export interface JsonLimits {
  /** Objects and lists inside of each other. */
  readonly depth: number
  /** Keys of the outermost object. */
  readonly keys: number
}

/**
 * Knows strings, brackets and colons only; whether the text is JSON at all is for JSON.parse to say.
 * @returns what is wrong, in words that complete "the header ...", or null
 */
export function refuseJsonShape(text: string, limits: JsonLimits): string | null {
  /** Keys seen in each open object. */
  const open: Set<string>[] = []
  let at = 0
  while (at < text.length) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) {
      const end = stringEnd(text, at)
      const after = skipBlanks(text, end)
      const keys = open.at(-1)
      if (text.charCodeAt(after) === COLON && keys !== undefined) {
        const key = decodeString(text.slice(at, end))
        if (keys.has(key)) return `names ${quote(key)} twice`
        keys.add(key)
        if (open.length === 1 && keys.size > limits.keys) return `has more than ${limits.keys} entries`
      }
      at = end
      continue
    }
    if (character === OPEN_OBJECT || character === OPEN_LIST) {
      if (open.length === limits.depth) return `is nested deeper than ${limits.depth} levels`
      open.push(new Set())
    } else if (character === CLOSE_OBJECT || character === CLOSE_LIST) open.pop()
    at += 1
  }
  return null
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Index after the closing quote, or the end of the text. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) return at + 1
    at += character === BACKSLASH ? 2 : 1
  }
  return text.length
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1
  return at
}

/** Two spellings of a key (`a` and `\u0061`) are one key. */
function decodeString(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1)
  try {
    return String(JSON.parse(literal))
  } catch {
    // JSON.parse of the whole text will say that it is no JSON.
    return literal
  }
}

function quote(key: string): string {
  return JSON.stringify(key.length > 80 ? `${key.slice(0, 80)}…` : key)
}
