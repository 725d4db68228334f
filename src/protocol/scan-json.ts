/**
 * A strict JSON scanner that yields offsets instead of values, so that untouched text can be spliced byte for byte. Pure.
 * It is as strict as RFC 8259 (no comments, no trailing commas, no control characters) and, unlike JSON.parse, names the
 * place of an error without quoting the text around it: history text must not reach logs.
 */
import { AppError } from '../errors.ts'
import { jsonPointer } from './json-pointer.ts'

/** Real tool arguments stay below 20 levels; 256 leaves headroom and keeps the recursion far from the stack limit. */
export const MAX_JSON_DEPTH = 256

export interface JsonNode {
  readonly kind: 'object' | 'array' | 'string' | 'scalar'
  /** Half-open character range [start, end) of the value in the text. */
  readonly start: number
  readonly end: number
  /** Objects above the kept depth; of a repeated key the last one, as JSON.parse has it. Else empty. */
  readonly members: ReadonlyMap<string, JsonNode>
  /** Arrays above the kept depth. Else empty. */
  readonly elements: readonly JsonNode[]
}

interface Scan {
  readonly text: string
  readonly keepDepth: number
  readonly path: (string | number)[]
  /** No control character inside a string: then only quotes and backslashes need to be looked for. */
  readonly isPlain: boolean
  /** Offset of the first backslash at or after `at`, once it has been looked for; the end of the text if there is none. */
  escapeAt: number
  at: number
}

const NO_MEMBERS: ReadonlyMap<string, JsonNode> = new Map()
const NO_ELEMENTS: readonly JsonNode[] = []
const SCALAR = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them inside strings
const CONTROL = /[\u0000-\u001f]/
const HEX4 = /[0-9a-fA-F]{4}/y

/**
 * @param options.keepDepth containers at a depth below this keep their children (the root has depth 0)
 * @param options.root path of the document inside the request, for pointers in errors
 * @param options.isParsed JSON.parse has taken this text: control characters inside strings need not be looked for again
 * @throws history-malformed with offset, line, column and pointer
 */
export function scanJson(
  text: string,
  options: {
    readonly keepDepth: number
    readonly root?: readonly (string | number)[]
    readonly isParsed?: boolean
  },
): JsonNode {
  const scan: Scan = {
    text,
    keepDepth: options.keepDepth,
    path: [...(options.root ?? [])],
    isPlain: options.isParsed === true || !CONTROL.test(text),
    escapeAt: -1,
    at: text.charCodeAt(0) === 0xfeff ? 1 : 0,
  }
  const node = scanValue(scan, 0)
  skipSpace(scan)
  if (scan.at < text.length) fail(scan, 'nothing after the end of the document')
  return node
}

function scanValue(scan: Scan, depth: number): JsonNode {
  skipSpace(scan)
  const start = scan.at
  switch (scan.text[start]) {
    case '{':
      return scanObject(scan, depth)
    case '[':
      return scanArray(scan, depth)
    case '"':
      scanString(scan)
      return { kind: 'string', start, end: scan.at, members: NO_MEMBERS, elements: NO_ELEMENTS }
    default: {
      SCALAR.lastIndex = start
      const match = SCALAR.exec(scan.text)
      if (match === null) return fail(scan, 'a value')
      scan.at = SCALAR.lastIndex
      return { kind: 'scalar', start, end: scan.at, members: NO_MEMBERS, elements: NO_ELEMENTS }
    }
  }
}

function scanObject(scan: Scan, depth: number): JsonNode {
  const start = open(scan, depth)
  const members = new Map<string, JsonNode>()
  skipSpace(scan)
  if (scan.text[scan.at] !== '}') {
    do {
      skipSpace(scan)
      const key = scanKey(scan)
      skipSpace(scan)
      expect(scan, ':')
      scan.path.push(key)
      const value = scanValue(scan, depth + 1)
      scan.path.pop()
      if (depth < scan.keepDepth) members.set(key, value)
      skipSpace(scan)
    } while (accept(scan, ','))
  }
  expect(scan, '}')
  return { kind: 'object', start, end: scan.at, members, elements: NO_ELEMENTS }
}

function scanArray(scan: Scan, depth: number): JsonNode {
  const start = open(scan, depth)
  const elements: JsonNode[] = []
  skipSpace(scan)
  if (scan.text[scan.at] !== ']') {
    let index = 0
    do {
      scan.path.push(index++)
      const value = scanValue(scan, depth + 1)
      scan.path.pop()
      if (depth < scan.keepDepth) elements.push(value)
      skipSpace(scan)
    } while (accept(scan, ','))
  }
  expect(scan, ']')
  return { kind: 'array', start, end: scan.at, members: NO_MEMBERS, elements }
}

function open(scan: Scan, depth: number): number {
  if (depth >= MAX_JSON_DEPTH) {
    const pointer = jsonPointer(scan.path.slice(0, 8))
    throw new AppError(
      'history-malformed',
      `the JSON is nested deeper than ${MAX_JSON_DEPTH} levels below ${pointer}`,
      {
        details: { pointer, limit: MAX_JSON_DEPTH },
      },
    )
  }
  return scan.at++
}

function scanKey(scan: Scan): string {
  const start = scan.at
  if (scan.text[start] !== '"') return fail(scan, 'a key in double quotes')
  scanString(scan)
  const raw = scan.text.slice(start, scan.at)
  return raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1)
}

/** A search for the next quote is several times faster than a look at every character. */
function scanPlainString(scan: Scan): void {
  const { text } = scan
  let at = scan.at + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (scan.escapeAt < at) {
      const found = text.indexOf('\\', at)
      scan.escapeAt = found === -1 ? text.length : found
    }
    if (quote !== -1 && quote < scan.escapeAt) {
      scan.at = quote + 1
      return
    }
    scan.at = Math.min(scan.escapeAt, text.length)
    if (scan.escapeAt >= text.length) fail(scan, 'the end of the string')
    at = scanEscape(scan)
  }
}

function scanString(scan: Scan): void {
  if (scan.isPlain) {
    scanPlainString(scan)
    return
  }
  const { text } = scan
  for (let at = scan.at + 1; ; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      scan.at = at + 1
      return
    }
    if (code !== 0x5c && code >= 0x20) continue
    scan.at = at
    if (code === 0x5c) at = scanEscape(scan) - 1
    else fail(scan, at >= text.length ? 'the end of the string' : 'no control character in the string')
  }
}

/** @returns the offset after the escape at scan.at */
function scanEscape(scan: Scan): number {
  const kind = scan.text[scan.at + 1] ?? ''
  if (kind === 'u') {
    HEX4.lastIndex = scan.at + 2
    if (!HEX4.test(scan.text)) fail(scan, 'four hexadecimal digits after \\u')
    return scan.at + 6
  }
  return kind !== '' && '"\\/bfnrt'.includes(kind) ? scan.at + 2 : fail(scan, 'a JSON escape')
}

function skipSpace(scan: Scan): void {
  for (;;) {
    const code = scan.text.charCodeAt(scan.at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    scan.at++
  }
}

function accept(scan: Scan, char: string): boolean {
  if (scan.text[scan.at] !== char) return false
  scan.at++
  return true
}

function expect(scan: Scan, char: string): void {
  if (!accept(scan, char)) fail(scan, `"${char}"`)
}

function fail(scan: Scan, expected: string): never {
  const before = scan.text.slice(0, scan.at)
  const line = before.split('\n').length
  const column = scan.at - before.lastIndexOf('\n')
  const pointer = jsonPointer(scan.path)
  const found = scan.at >= scan.text.length ? 'the text ends' : 'there is something else'
  throw new AppError(
    'history-malformed',
    `not valid JSON: expected ${expected} at line ${line}, column ${column}, but ${found} (in ${pointer === '' ? 'the document' : pointer})`,
    { details: { pointer, offset: scan.at, line, column } },
  )
}

/** The JSON text without the white space between tokens; numbers, escapes and key order stay as they are. */
export function minifyJson(raw: string): string {
  let out = ''
  let from = 0
  let inString = false
  for (let at = 0; at < raw.length; at++) {
    const code = raw.charCodeAt(at)
    if (inString) {
      if (code === 0x5c) at++
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      out += raw.slice(from, at)
      from = at + 1
    }
  }
  return out + raw.slice(from)
}
