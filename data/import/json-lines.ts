/**
 * Reads a JSONL file line by line, however long it is, and recovers what a crash left behind (formats.md rule 6): BOM and
 * CR are dropped, NUL padding is skipped, an object glued to another one or to a torn prefix is read, a valid last line
 * needs no line break, and the first bad line never stops the file.
 */
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { AppError } from '../../src/errors.ts'
import { MAX_LOG_DEPTH, pruneDeep } from './prune-deep.ts'
import { breaksOffWhole } from './torn-json.ts'

/** A line longer than this is reported, not read: far above any real record, below the runtime's string limit. */
export const MAX_LINE_BYTES = 256 * 1024 * 1024

export type JsonLine =
  | { readonly kind: 'record'; readonly line: number; readonly value: unknown; readonly raw: string }
  | { readonly kind: 'problem'; readonly line: number; readonly reason: string }

export interface RawLine {
  readonly line: number
  /** null: longer than the limit. */
  readonly bytes: Buffer | null
}

export async function* readJsonLines(path: string): AsyncGenerator<JsonLine> {
  for await (const { line, bytes } of readRawLines(path)) {
    if (bytes === null) {
      yield { kind: 'problem', line, reason: `line is longer than the limit of ${MAX_LINE_BYTES} bytes` }
      continue
    }
    yield* parseLine(bytes, line)
  }
}

/** The same for a file that is in memory. */
export function* parseJsonLines(bytes: Buffer): Generator<JsonLine> {
  let start = 0
  for (let line = 1; start < bytes.length; line += 1) {
    const newline = bytes.indexOf(10, start)
    const end = newline === -1 ? bytes.length : newline
    yield* parseLine(bytes.subarray(start, end), line)
    start = end + 1
  }
}

/** All values of one line; `raw` is the exact text of each, but where a value was nested too deep. */
export function* parseLine(bytes: Buffer, line: number): Generator<JsonLine> {
  for (const parsed of parseText(bytes, line)) {
    const pruned = parsed.kind === 'record' ? pruneDeep(parsed.value) : null
    if (pruned === null || pruned.count === 0) yield parsed
    else {
      yield {
        kind: 'problem',
        line,
        reason: `${pruned.count} values nested deeper than ${MAX_LOG_DEPTH} levels are left out`,
      }
      yield { kind: 'record', line, value: pruned.value, raw: JSON.stringify(pruned.value) }
    }
  }
}

function* parseText(bytes: Buffer, line: number): Generator<JsonLine> {
  if (!isUtf8(bytes))
    yield { kind: 'problem', line, reason: 'bytes that are no UTF-8 were read as U+FFFD; the record is kept' }
  let text = bytes.toString('utf8')
  if (line === 1 && text.startsWith('\ufeff')) text = text.slice(1)
  if (text.includes('\0')) {
    const padding = text.length
    text = text.replaceAll('\0', '')
    yield { kind: 'problem', line, reason: `${padding - text.length} NUL bytes dropped` }
  }
  text = text.trim()
  if (text === '') return
  const whole = tryParse(text)
  if (whole !== undefined) {
    yield { kind: 'record', line, value: whole.value, raw: text }
    return
  }
  yield* recover(text, line)
}

/** Reads the whole objects of a line that is not one JSON value. */
function* recover(text: string, line: number): Generator<JsonLine> {
  let at = 0
  let found = 0
  while (at < text.length) {
    const end = text[at] === '{' ? balancedEnd(text, at) : -1
    const raw = end === -1 ? '' : text.slice(at, end)
    const parsed = raw === '' ? undefined : tryParse(raw)
    if (parsed === undefined) break
    yield { kind: 'record', line, value: parsed.value, raw }
    found += 1
    at = end
    while (text[at] === ' ' || text[at] === ',') at += 1
  }
  if (at >= text.length) return
  const tail = gluedRecords(text, at)
  if (tail === null) {
    yield {
      kind: 'problem',
      line,
      reason: `${found > 0 ? 'text after a whole record is' : 'line is'} no whole JSON record (torn write?)`,
    }
    return
  }
  yield { kind: 'problem', line, reason: `torn record of ${tail.at - at} characters before a whole one` }
  for (const { value, raw } of tail.records) yield { kind: 'record', line, value, raw }
}

/** More candidates than any torn prefix needs, and how often a line is walked at most: a huge damaged line stays linear. */
const MAX_TAIL_CANDIDATES = 5000
const MAX_TAIL_WALKS = 20

interface GluedRecords {
  readonly at: number
  readonly records: readonly { readonly value: unknown; readonly raw: string }[]
}

/**
 * The leftmost place after `from` from which whole objects follow each other up to the end of the line. Only ones that look
 * like records of their own (they name their type or their role, and hold more than a content block does) count: the inner
 * objects of a torn record must not come back as records.
 */
function gluedRecords(text: string, from: number): GluedRecords | null {
  if (!text.endsWith('}') || breaksOffWhole(text.slice(from))) return null
  let at = from
  let walked = 0
  for (let tries = 0; tries < MAX_TAIL_CANDIDATES && walked < MAX_TAIL_WALKS * text.length; tries += 1) {
    const next = text.slice(at + 1).search(/\{\s*"/)
    if (next === -1) return null
    at += 1 + next
    const records: { value: unknown; raw: string }[] = []
    let place = at
    for (;;) {
      const end = text[place] === '{' ? balancedEnd(text, place) : -1
      walked += (end === -1 ? text.length : end) - place
      const raw = end === -1 ? '' : text.slice(place, end)
      const parsed = raw === '' ? undefined : tryParse(raw)
      if (parsed === undefined || !looksLikeRecord(parsed.value)) break
      records.push({ value: parsed.value, raw })
      place = end
      while (text[place] === ' ') place += 1
      if (place >= text.length) return { at, records }
    }
  }
  return null
}

function looksLikeRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ('role' in value) return 'content' in value
  return 'type' in value && ('uuid' in value || 'sessionId' in value || 'timestamp' in value || 'message' in value)
}

/** Index after the bracket that closes the object at `start`, or -1. Strings are honoured. */
function balancedEnd(text: string, start: number): number {
  let depth = 0
  for (let i = start; i < text.length; i += 1) {
    const character = text[i]
    if (character === '"') {
      i += 1
      while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1
    } else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') {
      depth -= 1
      if (depth === 0) return i + 1
    }
  }
  return -1
}

function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch (cause) {
    // A line that does not parse is an expected state here: the caller reports it with its number.
    if (cause instanceof SyntaxError) return undefined
    throw cause
  }
}

/** Bytes of each line without its line break; `null` for one above the limit. */
export async function* readRawLines(path: string): AsyncGenerator<RawLine> {
  let line = 1
  let pending: Buffer[] = []
  let pendingBytes = 0
  const take = (last: Buffer): Buffer | null => {
    // A line inside one chunk is read in place: a copy of each would keep the collector busy.
    const whole = pending.length === 0 ? last : Buffer.concat([...pending, last])
    const bytes = pendingBytes + last.length > MAX_LINE_BYTES ? null : whole
    pending = []
    pendingBytes = 0
    return bytes
  }
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        yield { line, bytes: take(chunk.subarray(start, end)) }
        line += 1
        start = end + 1
      }
      const rest = chunk.subarray(start)
      pendingBytes += rest.length
      if (pendingBytes <= MAX_LINE_BYTES) pending.push(rest)
      else pending = []
    }
  } catch (cause) {
    throw new AppError('file-unreadable', `cannot read ${path}: ${String(cause)}; check that it is a readable file`, {
      cause,
    })
  }
  if (pendingBytes > 0) yield { line, bytes: take(Buffer.alloc(0)) }
}
