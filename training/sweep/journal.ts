/**
 * Finished jobs of a sweep, a line each, appended and synced as they end: killed at any point, the next run finds what was
 * done and does only the rest.
 */
import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFiles, translateWriteFailure, writeTextWhole } from '../../data/store/file-seam.ts'
import { type JournalLine, parseJournalLine } from './journal.schema.ts'

export const JOURNAL_FILE = 'journal.jsonl'

export interface Journal {
  find<Kind extends JournalLine['kind']>(key: string, kinds: readonly Kind[]): (JournalLine & { kind: Kind }) | null
  /** On disk when it returns. @throws disk-full, file-unreadable */
  append(line: JournalLine): void
  close(): void
}

/** @param directory made if it is not there */
export async function openJournal(directory: string): Promise<Journal> {
  await nodeFiles.makeDirectory(directory)
  const path = join(directory, JOURNAL_FILE)
  const texts = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []
  const lines = texts.map(parseJournalLine)
  const kept = texts.filter((_, i) => lines[i] !== null)
  // A line that was cut short must not run into the next one.
  if (kept.length !== texts.length - 1 || texts.at(-1) !== '')
    await writeTextWhole(nodeFiles, path, kept.map((text) => `${text}\n`).join(''))
  const known = new Map(lines.filter((line) => line !== null).map((line) => [nameOf(line.kind, line.key), line]))
  const file = openSync(path, 'a', 0o600)
  return {
    find(key, kinds) {
      for (const kind of kinds) {
        const line = known.get(nameOf(kind, key))
        if (line !== undefined) return line as JournalLine & { kind: (typeof kinds)[number] }
      }
      return null
    },
    append(line) {
      try {
        appendFileSync(file, `${JSON.stringify(line)}\n`)
        fsyncSync(file)
      } catch (thrown) {
        throw translateWriteFailure(thrown, path)
      }
      known.set(nameOf(line.kind, line.key), line)
    },
    close: () => closeSync(file),
  }
}

function nameOf(kind: JournalLine['kind'], key: string): string {
  return `${kind}/${key}`
}
