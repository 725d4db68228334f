/**
 * Opens a log: decides whether it is one JSON value or JSONL, and takes the sample that format detection looks at.
 */
import { open, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { hashFile } from '../store/hash-file.ts'
import { unreadable } from './find-logs.ts'
import type { LogFile } from './importer.ts'
import { parseLine, readJsonLines } from './json-lines.ts'

/** A single JSON value is held in memory twice (text and value): larger files must be JSONL. */
export const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
/** Enough lines to meet a record with messages in every session format seen; a line may be long. */
const SAMPLE_LINES = 400
const SAMPLE_BYTES = 4 * 1024 * 1024

/**
 * @param path where it is read from
 * @param name how rows and reports name it
 * Throws file-not-found, file-unreadable, log-malformed (neither JSON nor JSONL).
 */
export async function openLog(path: string, name: string): Promise<LogFile> {
  const sizeBytes = await fileSize(path)
  if (sizeBytes === 0) throw new AppError('log-malformed', `${name} is empty (0 bytes): leave it out`)
  const head = await readHead(path, Math.min(sizeBytes, SAMPLE_BYTES))
  const { document, records } = await takeSample(path, { head, sizeBytes })
  if (document === undefined && records.length === 0) throw notJson(name, head)
  return {
    path,
    name,
    sha256: (await hashFile(path)).sha256,
    sample: { fileName: basename(path), document, records },
    text: () => readText(path, name, sizeBytes),
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

async function readHead(path: string, sizeBytes: number): Promise<Buffer> {
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

/**
 * One JSON value wins over JSONL: a list with one element per line is no JSONL. Only a long file whose first line is a
 * whole object is taken for JSONL without reading the rest.
 */
async function takeSample(
  path: string,
  file: { readonly head: Buffer; readonly sizeBytes: number },
): Promise<{ readonly document: unknown; readonly records: readonly unknown[] }> {
  const whole = file.head.length === file.sizeBytes
  const asLines = (): { document: undefined; records: readonly unknown[] } => ({
    document: undefined,
    records: sampleRecords(file.head, whole),
  })
  if (!whole && (file.sizeBytes > MAX_DOCUMENT_BYTES || startsWithRecord(file.head))) return asLines()
  const text = withoutBom(whole ? file.head.toString('utf8') : await readFile(path, 'utf8')).trim()
  const document = tryParse(text)
  if (document === undefined) return asLines()
  return { document, records: text.includes('\n') || typeof document !== 'object' ? [] : [document] }
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
function sampleRecords(head: Buffer, whole: boolean): readonly unknown[] {
  const records: unknown[] = []
  let start = 0
  for (let line = 1; start < head.length && line <= SAMPLE_LINES; line += 1) {
    const newline = head.indexOf(10, start)
    if (newline === -1 && !whole) break
    const end = newline === -1 ? head.length : newline
    for (const parsed of parseLine(head.subarray(start, end), line))
      if (parsed.kind === 'record' && typeof parsed.value === 'object' && parsed.value !== null)
        records.push(parsed.value)
    start = end + 1
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

function notJson(name: string, head: Buffer): AppError {
  const start = withoutBom(head.subarray(0, 400).toString('utf8')).trimStart()
  const why = /^[[{]/.test(start)
    ? 'it starts like JSON but does not end as one: the file is torn, or holds a syntax error'
    : 'it holds no JSON at all'
  return new AppError(
    'log-malformed',
    `${name} is neither one JSON value nor JSONL: ${why}; export it again, or leave it out`,
  )
}
