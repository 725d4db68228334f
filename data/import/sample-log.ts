/**
 * Opens a log: decides whether it is one JSON value, JSONL, a zip archive or other text, and takes the sample that format
 * detection looks at. A JSON file that is torn gives its complete elements.
 */
import { isUtf8 } from 'node:buffer'
import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { hashFile } from '../store/hash-file.ts'
import { unreadable } from './find-logs.ts'
import type { Damage, LogFile, LogSample } from './importer.ts'
import { readJsonLines } from './json-lines.ts'
import { MAX_LOG_DEPTH, pruneDeep } from './prune-deep.ts'
import { recoverTornJson } from './torn-json.ts'

/** A single JSON value is held in memory twice (text and value): larger files must be JSONL. */
export const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
/** Enough lines to meet a record with messages in every session format seen; a line may be long. */
const SAMPLE_LINES = 400
const SAMPLE_BYTES = 4 * 1024 * 1024
/** What `LogSample.head` holds: the title and the first turns of any text format. */
const HEAD_BYTES = 64 * 1024
/** Of a local file header, or of an empty archive. */
const ZIP_SIGNATURES = ['PK\u0003\u0004', 'PK\u0005\u0006']

/** A file's content by its outer form. */
interface Content {
  readonly document: unknown
  readonly records: readonly unknown[]
  readonly damage: readonly Damage[]
  /** Text of the document when it is not the file's own. */
  readonly repaired: string | null
}

const NO_JSON: Content = { document: undefined, records: [], damage: [], repaired: null }

/**
 * @param path where it is read from
 * @param name how rows and reports name it
 * Throws file-not-found, file-unreadable, log-malformed (empty, no text at all, JSON without one complete element).
 */
export async function openLog(path: string, name: string): Promise<LogFile> {
  const sizeBytes = await fileSize(path)
  if (sizeBytes === 0) throw new AppError('log-malformed', `${name} is empty (0 bytes): leave it out`)
  const start = await readStart(path, Math.min(sizeBytes, SAMPLE_BYTES))
  const isZip = ZIP_SIGNATURES.includes(start.toString('latin1', 0, 4))
  const head = isZip ? '' : withoutBom(start.toString('utf8', 0, HEAD_BYTES))
  if (!isZip && isBinary(head)) throw new AppError('log-malformed', `${name} is no text: leave it out`)
  const content = isZip ? NO_JSON : await readContent(path, { name, start, sizeBytes })
  const sample: LogSample = {
    fileName: basename(path),
    document: content.document,
    records: content.records,
    head,
    isZip,
  }
  return {
    path,
    name,
    sha256: (await hashFile(path)).sha256,
    sample,
    damage: content.damage,
    text: async () => content.repaired ?? (await readText(path, name, sizeBytes)),
    lines: () => readJsonLines(path),
  }
}

async function fileSize(path: string): Promise<number> {
  try {
    const stats = await stat(path)
    if (!stats.isFile()) throw new AppError('file-unreadable', `${path} is no regular file: leave it out`)
    return stats.size
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw unreadable(path, cause)
  }
}

async function readStart(path: string, sizeBytes: number): Promise<Buffer> {
  try {
    await using handle = await open(path, 'r')
    const buffer = Buffer.alloc(sizeBytes)
    let filled = 0
    while (filled < sizeBytes) {
      const { bytesRead } = await handle.read(buffer, filled, sizeBytes - filled, filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return buffer.subarray(0, filled)
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** Much of it is no UTF-8. NULs do not count: a crashed writer leaves whole blocks of them between good lines. */
function isBinary(head: string): boolean {
  const odd = head.match(/\ufffd/g)?.length ?? 0
  return odd * 10 > head.replaceAll('\0', '').length
}

/**
 * One JSON value wins over JSONL: a list with one element per line is no JSONL. Only a long file whose first line is a
 * whole object is taken for JSONL without reading the rest.
 */
async function readContent(
  path: string,
  file: { readonly name: string; readonly start: Buffer; readonly sizeBytes: number },
): Promise<Content> {
  const isWhole = file.start.length === file.sizeBytes
  const asLines = async (): Promise<Content> => ({ ...NO_JSON, records: await sampleRecords(path) })
  if (!isWhole && (file.sizeBytes > MAX_DOCUMENT_BYTES || startsWithRecord(file.start))) return asLines()
  const bytes = isWhole ? file.start : await readFile(path)
  const text = withoutBom(bytes.toString('utf8')).trim()
  const document = tryParse(text)
  if (document !== undefined) return documentContent({ text, document, damage: encodingDamage(bytes) })
  const lines = await asLines()
  if (lines.records.length > 0 || !/^[[{]/.test(text)) return lines
  const torn = recoverTornJson(text.replaceAll('\0', ''))
  // A text that merely begins with a bracket is left to the formats that are no JSON.
  if (torn === null) {
    if (/^(?:\[\s*[[{\]"]|\{\s*["}])/.test(text)) throw tornWithoutElement(file.name)
    return lines
  }
  return documentContent({
    text: torn.text,
    document: torn.document,
    damage: [
      ...encodingDamage(bytes),
      torn.elementCount === null ? { reason: torn.reason } : { index: torn.elementCount, reason: torn.reason },
    ],
    isRepaired: true,
  })
}

function documentContent(read: {
  readonly text: string
  readonly document: unknown
  readonly damage: readonly Damage[]
  readonly isRepaired?: boolean
}): Content {
  const pruned = pruneDeep(read.document)
  const isOneLine = !read.text.includes('\n') && typeof read.document === 'object'
  return {
    document: pruned.value,
    records: isOneLine && read.isRepaired !== true ? [pruned.value] : [],
    damage: pruned.count === 0 ? read.damage : [...read.damage, deepDamage(pruned.count)],
    repaired: pruned.count > 0 ? JSON.stringify(pruned.value) : read.isRepaired === true ? read.text : null,
  }
}

function deepDamage(count: number): Damage {
  return { reason: `${count} values nested deeper than ${MAX_LOG_DEPTH} levels are left out` }
}

function encodingDamage(bytes: Buffer): readonly Damage[] {
  return isUtf8(bytes) ? [] : [{ reason: 'bytes that are no UTF-8 were read as U+FFFD' }]
}

function startsWithRecord(head: Buffer): boolean {
  const newline = head.indexOf(10)
  if (newline === -1) return false
  const value = tryParse(withoutBom(head.subarray(0, newline).toString('utf8')))
  return typeof value === 'object' && value !== null
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // Not one JSON value: an expected state here, the caller tries the other form.
    if (cause instanceof SyntaxError) return undefined
    throw cause
  }
}

/** Values of the first whole lines. */
async function sampleRecords(path: string): Promise<readonly unknown[]> {
  const records: unknown[] = []
  let characters = 0
  for await (const line of readJsonLines(path)) {
    if (line.line > SAMPLE_LINES) break
    if (line.kind === 'problem') continue
    if (typeof line.value === 'object' && line.value !== null) records.push(line.value)
    characters += line.raw.length
    if (characters > SAMPLE_BYTES) break
  }
  return records
}

async function readText(path: string, name: string, sizeBytes: number): Promise<string> {
  if (sizeBytes > MAX_DOCUMENT_BYTES)
    throw new AppError(
      'log-malformed',
      `${name} is one JSON value of ${sizeBytes} bytes, the limit is ${MAX_DOCUMENT_BYTES}: split it, or convert it to JSONL`,
    )
  return withoutBom(await readFile(path, 'utf8'))
}

function withoutBom(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function tornWithoutElement(name: string): AppError {
  return new AppError(
    'log-malformed',
    `${name} starts like JSON but does not end as one, and no element of a list in it is complete: ` +
      'the file is torn, or holds a syntax error; export it again, or leave it out',
  )
}
