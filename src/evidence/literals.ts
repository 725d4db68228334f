/**
 * Literals: the pieces of text whose reappearance shows that a later step took up what an earlier one brought in
 * (DESIGN section 9). Pure; knows nothing of trajectories. docs/labels.md has one example of each class, tests run them.
 *
 * Two passes over the text, each linear: words (runs of one character class, classified as a whole) and quoted strings
 * (bounded length). A failing match re-reads at most MAX_QUOTE_CHARS characters, so reading is linear in the text.
 */

export const LITERAL_CLASSES = [
  'url',
  'path',
  'file-name',
  'date',
  'number',
  'id',
  'symbol',
  'error-name',
  'quoted',
] as const
export type LiteralClass = (typeof LITERAL_CLASSES)[number]

export interface Literal {
  /** Lower-cased and normalised: two occurrences are the same literal iff their keys are equal. */
  readonly key: string
  /** As it stands in the text. */
  readonly spelling: string
  readonly kind: LiteralClass
}

export type VisitLiteral = (literal: Literal) => void

/** Longer words are encoded data (base64, minified code), not something an agent retypes. Assumption. */
export const MAX_WORD_CHARS = 300
/** Longer quotations are passages, which are hardly ever repeated word for word. Assumption. */
export const MAX_QUOTE_CHARS = 80
export const MIN_QUOTE_CHARS = 3
/** Numbers with fewer digits stand everywhere (DESIGN section 9). */
const MIN_NUMBER_DIGITS = 3
/** `e.g`, `v2`, `1st` are not ids or file names. Assumption. */
const MIN_WORD_CHARS = 4

/**
 * In order: url (ends at blanks, quotes, brackets) | drive path | escaped break or tab of a JSON text inside a text |
 * number with thousands separators | plain word. Each alternative is one run of a character class behind a fixed start.
 */
const WORD =
  /https?:\/\/[^\s"'`<>()[\]{}\\]+|\b[A-Za-z]:\\[A-Za-z0-9_.\\-]+|\\[nrt]|\$?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|[A-Za-z0-9_$~@/.+\-\u00c0-\u024f]+/g

/** Double, back and typographic quotes; a single quote only where it cannot be an apostrophe. No blank at either end. */
const QUOTE =
  /"([^"\s\\][^"\n\\]{1,78}[^"\s\\])"|`([^`\s][^`\n]{1,78}[^`\s])`|\u201c([^\u201d\s][^\u201d\n]{1,78}[^\u201d\s])\u201d|(?<![\w'\\])'([^'\s\\][^'\n\\]{1,78}[^'\s\\])'(?!\w)/g

/** Most words of a text: dismissed at once. */
const PROSE = /^[A-Z]?[a-z]*[-.]?$/
const HAS_LETTER = /[A-Za-z\u00c0-\uffff]/
const DATE = /^(?:\d{4}-\d{2}-\d{2}(?:T\d+)?|\d{1,2}\/\d{1,2}\/\d{2,4}|\d{4}\/\d{2}\/\d{2})$/
const NUMBER = /^[+-]?\$?\d[\d.-]*$/
const FILE_NAME = /^[A-Za-z0-9_$@+.\-\u00c0-\u024f]+\.[A-Za-z][A-Za-z0-9]{0,7}$|^\.[A-Za-z][A-Za-z0-9_.-]+$/
const ERROR_NAME = /[A-Za-z0-9_.](?:Error|Exception|Warning)$|^E[A-Z]{4,}$/
const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/
const SNAKE = /[A-Za-z0-9$]_+[A-Za-z0-9$]|^_+[A-Za-z]/
const CAMEL = /[a-z][A-Z]/
const ROOTED = /^(?:\/|~\/|\.{1,2}\/)/

/**
 * Calls `visit` for every literal of the text: words in reading order, then quotations. One word may hold several (a path
 * and its file name, a dotted name and its parts). Repetitions are visited again. Linear in text.length.
 */
export function scanLiterals(text: string, visit: VisitLiteral): void {
  for (const match of text.matchAll(WORD)) visitWord(match[0], visit)
  for (const match of text.matchAll(QUOTE)) visitQuoted(match[1] ?? match[2] ?? match[3] ?? match[4] ?? '', visit)
}

/** Distinct keys of a text. */
export function literalKeys(text: string): ReadonlySet<string> {
  const keys = new Set<string>()
  scanLiterals(text, (literal) => keys.add(literal.key))
  return keys
}

/** A string that stood in quotes where it was written (also a JSON string value): one literal if it is one short line. */
export function visitQuoted(inside: string, visit: VisitLiteral): void {
  if (inside.length < MIN_QUOTE_CHARS || inside.length > MAX_QUOTE_CHARS) return
  if (inside.includes('\n') || !HAS_LETTER.test(inside)) return
  visit({ key: inside.toLowerCase(), spelling: inside, kind: 'quoted' })
}

function visitWord(word: string, visit: VisitLiteral): void {
  if (word.length > MAX_WORD_CHARS || word.length < MIN_NUMBER_DIGITS || PROSE.test(word)) return
  const emit: Emit = (kind, spelling, key = spelling.toLowerCase()) => visit({ key, spelling, kind })
  if (/^https?:/.test(word)) emit('url', trimEnd(word, '.,;:!?*/'))
  else if (word.includes('\\')) visitDrivePath(trimEnd(word, '.\\'), emit)
  else visitPlainWord(trimEnd(trimStart(word), '-+./@~$'), emit)
}

type Emit = (kind: LiteralClass, spelling: string, key?: string) => void

function visitPlainWord(word: string, emit: Emit): void {
  if (word.length < MIN_NUMBER_DIGITS) return
  const digits = countDigits(word)
  if (DATE.test(word)) emit('date', word)
  else if (digits > 0 && NUMBER.test(word.replaceAll(',', ''))) {
    if (digits >= MIN_NUMBER_DIGITS) emit('number', word, word.replace(/[+,$]/g, ''))
  } else if (!HAS_LETTER.test(word)) return
  else if (word.includes('/')) visitPath(word, emit)
  else if (word.length >= MIN_WORD_CHARS) visitName(word, { emit, hasDigit: digits > 0 })
}

function visitDrivePath(path: string, emit: Emit): void {
  emit('path', path)
  visitFileName(path.slice(path.lastIndexOf('\\') + 1), emit)
}

/** Paths: rooted ones, ones with a file name at the end, ones of three or more segments; not `and/or`. */
function visitPath(word: string, emit: Emit): void {
  const base = word.slice(word.lastIndexOf('/') + 1)
  const deep = word.indexOf('/', word.indexOf('/') + 1) > 0
  if (!ROOTED.test(word) && !deep && !FILE_NAME.test(base) && !/[\d_.-]/.test(word)) return
  emit('path', word, word.replace(/^\.\//, '').toLowerCase())
  visitFileName(base, emit)
}

function visitFileName(base: string, emit: Emit): void {
  if (base.length >= MIN_WORD_CHARS && FILE_NAME.test(base)) emit('file-name', base)
}

/** A word without a slash: error name, symbol, file name, or id; the parts of a dotted name may be symbols. */
function visitName(word: string, { emit, hasDigit }: { readonly emit: Emit; readonly hasDigit: boolean }): void {
  if (ERROR_NAME.test(word)) emit('error-name', word)
  else if (isSymbol(word)) emit('symbol', word)
  else {
    if (FILE_NAME.test(word)) emit('file-name', word)
    else if (hasDigit) emit('id', word)
    if (!word.includes('.')) return
    for (const part of word.split('.')) if (part.length >= MIN_WORD_CHARS && isSymbol(part)) emit('symbol', part)
  }
}

function isSymbol(word: string): boolean {
  return IDENTIFIER.test(word) && (SNAKE.test(word) || CAMEL.test(word))
}

/** Drops leading punctuation, but keeps what roots a path or a hidden file. */
function trimStart(word: string): string {
  let start = 0
  while (start < word.length && '-+@$'.includes(word.charAt(start))) start++
  return word.slice(start)
}

function trimEnd(word: string, punctuation: string): string {
  let end = word.length
  while (end > 0 && punctuation.includes(word.charAt(end - 1))) end--
  return word.slice(0, end)
}

function countDigits(word: string): number {
  let count = 0
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    if (code >= 48 && code <= 57) count++
  }
  return count
}
