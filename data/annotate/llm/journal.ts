/**
 * The answers of an annotation, one line each, appended and on the disk before anything is made of them: a run that was
 * killed asks for none of them again. Readable by its owner alone: answers quote the history.
 */
import { existsSync } from 'node:fs'
import { type FileHandle, readFile } from 'node:fs/promises'
import { AppError } from '../../../src/errors.ts'
import { parseJsonLines } from '../../import/json-lines.ts'
import { OWNER_FILE, openToAppend, translateWriteFailure } from '../../store/file-seam.ts'
import {
  isJournalHeader,
  JOURNAL_HEADER,
  type JournalAnswer,
  type JournalEntry,
  parseJournalEntry,
} from './journal.schema.ts'

export interface JournalAnswers {
  /** Answers that were there when it was read or have come since. */
  get(key: string): JournalAnswer | undefined
  /** Every entry that was there when it was read: what the work has cost so far. */
  readonly earlier: readonly JournalEntry[]
}

export interface Journal extends JournalAnswers {
  readonly path: string
  /** Whole lines that could not be read; each is an answer that will be asked for again. */
  readonly damagedLines: number
  /** Bytes of a last line that a crash had torn; they are gone from the file. */
  readonly tornBytes: number
  /** The entry survives a power loss when it resolves. @throws disk-full, file-unreadable */
  append(entry: JournalEntry): Promise<void>
  close(): Promise<void>
}

const HEADER_LINE = `${JSON.stringify(JOURNAL_HEADER)}\n`

/**
 * What a journal holds, without touching it: another program may be writing it.
 *   returns  null if there is none
 * @throws rows-invalid, file-unreadable
 */
export async function readJournal(path: string): Promise<JournalAnswers | null> {
  if (!existsSync(path)) return null
  const bytes = await readBytes(path)
  const { entries } = readEntries(path, wholeLines(bytes))
  const answers = answersOf(entries)
  return { get: (key) => answers.get(key), earlier: entries }
}

/**
 * Opens or makes a journal and cuts a torn last line off.
 * @throws rows-invalid if the file is something else (it is left as it is); file-unreadable; disk-full
 */
export async function openJournal(path: string): Promise<Journal> {
  const handle = await openToAppend(path)
  try {
    const bytes = await handle.readFile()
    const whole = wholeLines(bytes)
    if (whole.length === 0 && !HEADER_LINE.startsWith(bytes.toString('utf8'))) throw otherFile(path)
    const { entries, damagedLines } = readEntries(path, whole)
    await handle.chmod(OWNER_FILE)
    await handle.truncate(whole.length)
    if (whole.length === 0) await handle.appendFile(HEADER_LINE)
    await handle.sync()
    const tornBytes = bytes.length - whole.length
    return journalOf({ path, handle, entries, damagedLines, tornBytes })
  } catch (thrown) {
    await handle.close()
    throw translateWriteFailure(thrown, path)
  }
}

function journalOf(opened: {
  readonly path: string
  readonly handle: FileHandle
  readonly entries: readonly JournalEntry[]
  readonly damagedLines: number
  readonly tornBytes: number
}): Journal {
  const { path, handle, entries, damagedLines, tornBytes } = opened
  const answers = answersOf(entries)
  /** Lines are written one after the other: two at a time would mix on a file system that splits writes. */
  let writing: Promise<void> = Promise.resolve()
  return {
    path,
    earlier: entries,
    damagedLines,
    tornBytes,
    get: (key) => answers.get(key),
    async append(entry) {
      const mine = writing.then(async () => {
        await handle.appendFile(`${JSON.stringify(entry)}\n`)
        await handle.datasync()
      })
      writing = mine.catch(() => undefined)
      try {
        await mine
      } catch (thrown) {
        throw translateWriteFailure(thrown, path)
      }
      if (entry.kind === 'answer') answers.set(entry.key, entry)
    },
    async close() {
      await writing
      await handle.close()
    },
  }
}

/** The last answer to a question stands. */
function answersOf(entries: readonly JournalEntry[]): Map<string, JournalAnswer> {
  return new Map(entries.flatMap((entry) => (entry.kind === 'answer' ? [[entry.key, entry]] : [])))
}

/** Up to the last line break: what follows is torn. */
function wholeLines(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(10) + 1)
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    throw new AppError('file-unreadable', `cannot read ${path} (${String(cause)}): check that it is yours`, { cause })
  }
}

function readEntries(
  path: string,
  whole: Buffer,
): { readonly entries: readonly JournalEntry[]; readonly damagedLines: number } {
  const entries: JournalEntry[] = []
  let damagedLines = 0
  let first = true
  for (const line of parseJsonLines(whole)) {
    const value = line.kind === 'record' ? line.value : null
    if (first) {
      if (!isJournalHeader(value)) throw otherFile(path)
      first = false
      continue
    }
    const entry = parseJournalEntry(value)
    if (entry === null) damagedLines += 1
    else entries.push(entry)
  }
  return { entries, damagedLines }
}

function otherFile(path: string): AppError {
  return new AppError(
    'rows-invalid',
    `${path} is no journal of this version of keepready annotate and was left as it is: choose another --journal`,
    { details: { path } },
  )
}
