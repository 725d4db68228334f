/**
 * Literals: the pieces of text whose reappearance shows that a later step took up what an earlier one brought in
 * (DESIGN section 9). Pure; knows nothing of trajectories. docs/labels.md has one example of each class, tests run them.
 *
 * Two passes over the text, each linear: words (runs of one character class, classified as a whole) and quoted strings
 * (bounded length). A failing match re-reads at most MAX_QUOTE_CHARS characters, so reading is linear in the text.
 */

import { ERRNO_NAMES } from './errno-names.ts'

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

/** Letters of alphabets that are written with blanks between words: Latin, Greek, Cyrillic and what stands up to Georgian. */
const LETTERS = 'A-Za-z\\u00c0-\\u024f\\u0370-\\u10ff'

/**
 * In order: terminal sequence, also with its escape character spelled out | url (ends at blanks, quotes, brackets) | drive
 * or network path | escaped break or tab of a JSON text inside a text | number with thousands separators | plain word.
 * Each alternative is one run of a character class behind a bounded start.
 */
const WORD = new RegExp(
  [
    '(?:\\u001b|\\\\(?:u001[bB]|x1[bB]|033|e))\\[[0-?]*[@-~]',
    '[A-Za-z][A-Za-z0-9+.\\-]{1,15}:\\/\\/[^\\s"\'`<>()[\\]{}\\\\\\u3000-\\u303f\\uff00-\\uffef]+',
    `(?:\\b[A-Za-z]:|\\\\(?=\\\\[A-Za-z0-9_.$-]{2,64}\\\\))\\\\[${LETTERS}0-9_$.\\\\-]+`,
    '\\\\[nrt]',
    '\\$?\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?(?!\\d)',
    `[${LETTERS}0-9_$~@/.+\\-]+`,
  ].join('|'),
  'g',
)

/**
 * Double, back and typographic quotes; a single quote only where it cannot be an apostrophe. Strings too short to be
 * literals are matched too: what closes them must not open another. No blank at either end, so that the marks of inches do
 * not pair.
 */
const QUOTE = new RegExp(
  [
    quotation('"', '"\\\\', '"'),
    quotation('`', '`', '`'),
    quotation('\\u201c', '\\u201c\\u201d', '\\u201d'),
    quotation('\\u201e', '\\u201c\\u201d', '[\\u201c\\u201d]'),
    quotation('\\u00ab', '\\u00ab\\u00bb', '\\u00bb'),
    quotation('\\u2018', '\\u2018\\u2019', '\\u2019(?!\\w)'),
    quotation("(?<![\\w'\\\\])'", "'\\\\", "'(?!\\w)"),
  ].join('|'),
  'g',
)

/** @param marks characters that cannot stand inside */
function quotation(open: string, marks: string, close: string): string {
  return `${open}(?:([^${marks}\\s](?:[^${marks}\\n]{0,${MAX_QUOTE_CHARS - 2}}[^${marks}\\s])?))?${close}`
}

/** Most words of a text: dismissed at once. */
const PROSE = /^[A-Z]?[a-z]*[-.]?$/
const HAS_LETTER = /[A-Za-z\u00c0-\uffff]/
const DATE = /^(?:\d{4}-\d{2}-\d{2}(?:T\d+)?|\d{1,2}\/\d{1,2}\/\d{2,4}|\d{4}\/\d{2}\/\d{2})$/
const NUMBER = /^[+-]?\$?\d[\d._-]*$/
/** `12-20`: lines, hours, scores; both sides are small numbers. */
const SMALL_RANGE = /^\d{1,2}-\d{1,2}$/
const ORDINAL = /^\d+(?:st|nd|rd|th)$/i
/** `12.3MB/s`, `40it/s`, `1.2k/3.4k`: a rate or a share with units. */
const RATE = /^\d[\d.]*[A-Za-z%]*\/(?:[A-Za-z]{1,3}|\d[\d.]*[A-Za-z%]*)$/
/** `U.S.A`, `Ph.D`. */
const ABBREVIATION = /^(?:[A-Za-z]\.)+[A-Za-z]$|^Ph\.D$/
const EMAIL = /^[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$/
const FILE_NAME = new RegExp(`^[${LETTERS}0-9_$@+.\\-]+\\.[A-Za-z][A-Za-z0-9]{0,7}$|^\\.[A-Za-z][A-Za-z0-9_.-]+$`)
const ERROR_NAME = /[A-Za-z0-9_.](?:Error|Exception|Warning)$/
const IDENTIFIER = new RegExp(`^[${LETTERS}_$][${LETTERS}0-9_$]*$`)
const SNAKE = new RegExp(`[${LETTERS}0-9$]_+[${LETTERS}0-9$]|^_+[${LETTERS}]`)
/** `getUser`, `HTTPServer`; not the plural of an acronym (`URLs`). */
const CAMEL = /[a-z][A-Z]|[A-Z]{2}[a-z]{2}/
const ROOTED = /^(?:\/|~\/|\.{1,2}\/)/

/**
 * Calls `visit` for every literal of the text: words in reading order, then quotations. One word may hold several (a path
 * and its file name, a dotted name and its parts). Repetitions are visited again. Linear in text.length.
 */
export function scanLiterals(text: string, visit: VisitLiteral): void {
  for (const match of text.matchAll(WORD)) visitWord(match[0], visit)
  for (const match of text.matchAll(QUOTE)) {
    const inside = match.find((part, group) => group > 0 && part !== undefined)
    if (inside !== undefined) visitQuoted(inside, visit)
  }
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
  if (word.startsWith('\u001b')) return
  if (word.includes('://')) visitUrl(trimEnd(word, '.,;:!?*/'), emit)
  else if (word.includes('\\')) visitBackslashed(word, emit)
  else visitPlainWord(trimEnd(trimStart(word), '-+./@~$'), emit)
}

/** Where files are reached by a scheme of their own (file, s3), the file's name is one by itself as well. */
function visitUrl(url: string, emit: Emit): void {
  emit('url', url)
  if (!/^https?:/i.test(url)) visitFileName(url.slice(url.lastIndexOf('/') + 1), emit)
}

/** A drive or network path; escaped breaks and terminal sequences hold no literal. */
function visitBackslashed(word: string, emit: Emit): void {
  const isPath = /^(?:[A-Za-z]:|\\)\\/.test(word)
  if (isPath) visitDrivePath(trimEnd(word, '.\\'), emit)
}

type Emit = (kind: LiteralClass, spelling: string, key?: string) => void

function visitPlainWord(word: string, emit: Emit): void {
  if (word.length < MIN_NUMBER_DIGITS) return
  const digits = countDigits(word)
  if (DATE.test(word)) emit('date', word)
  else if (digits > 0 && NUMBER.test(word.replaceAll(',', ''))) {
    if (digits >= MIN_NUMBER_DIGITS && !SMALL_RANGE.test(word)) emit('number', word, word.replace(/[+,$_]/g, ''))
  } else if (!HAS_LETTER.test(word) || ORDINAL.test(word) || isEncoded(word)) return
  else if (word.includes('/')) visitPath(word, emit)
  else if (word.length >= MIN_WORD_CHARS) visitName(word, { emit, hasDigit: digits > 0 })
}

/** In a JSON text inside a text each backslash is doubled: both spellings are one path. */
function visitDrivePath(path: string, emit: Emit): void {
  emit('path', path, path.replace(/(?!^)\\+/g, '\\').toLowerCase())
  visitFileName(path.slice(path.lastIndexOf('\\') + 1), emit)
}

/** Paths: rooted ones, ones with a file name at the end, ones of three or more segments; not `and/or`. */
function visitPath(word: string, emit: Emit): void {
  if (RATE.test(word)) return
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
  if (ERROR_NAME.test(word) || ERRNO_NAMES.has(word)) emit('error-name', word)
  else if (isSymbol(word)) emit('symbol', word)
  else if (EMAIL.test(word)) emit('id', word)
  else if (!ABBREVIATION.test(word)) {
    if (FILE_NAME.test(word)) emit('file-name', word)
    else if (hasDigit) emit('id', word)
    if (!word.includes('.')) return
    for (const part of word.split('.')) if (part.length >= MIN_WORD_CHARS && isSymbol(part)) emit('symbol', part)
  }
}

function isSymbol(word: string): boolean {
  return IDENTIFIER.test(word) && (SNAKE.test(word) || CAMEL.test(word))
}

/** Lines of base64 are at least this long (PEM 64, MIME 76). */
const MIN_ENCODED_CHARS = 60

/**
 * A piece of encoded data: long, of the base64 alphabet alone, and changing between small, capital and digit at random
 * (random text changes at .6 of its places, paths in camel case at .1).
 */
function isEncoded(word: string): boolean {
  if (word.length < MIN_ENCODED_CHARS || !/^[A-Za-z0-9+/]+$/.test(word)) return false
  const changes = word.match(/[a-z][A-Z0-9]|[A-Z][a-z0-9]|[0-9][A-Za-z]/g)?.length ?? 0
  return /[A-Z]/.test(word) && /[a-z]/.test(word) && changes >= word.length / 5
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
