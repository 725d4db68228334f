/**
 * A JSONL file of versioned rows: read with every row checked, written whole or not at all.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { readJsonLines } from '../import/json-lines.ts'
import type { CheckedRow } from './checked-row.schema.ts'
import { type FileSeam, nodeFiles, writeFileWhole } from './file-seam.ts'

/** What one kind of file holds, and how a person makes it. */
export interface RowFileKind<T> {
  /** e.g. `run`: completes "is no valid ...". */
  readonly what: string
  /** Command that writes such a file, for messages. */
  readonly command: string
  readonly parse: (value: unknown) => CheckedRow<T>
  /** What must stand once in a file, and what to call it. */
  readonly key: { readonly name: string; readonly of: (row: T) => string }
}

/**
 * @throws file-not-found, file-unreadable, rows-invalid (with the line: damaged JSON, wrong version, unknown key, a key
 * that stands twice, no row at all)
 */
export async function readRowFile<T>(path: string, kind: RowFileKind<T>): Promise<readonly T[]> {
  if (!existsSync(path))
    throw new AppError('file-not-found', `${path} does not exist: make it with \`${kind.command}\``)
  const invalid = (line: number, problem: string): AppError =>
    new AppError(
      'rows-invalid',
      `${path} line ${line} is no valid ${kind.what}: ${problem}; make the file again with \`${kind.command}\``,
      { details: { path, line } },
    )
  const rows: T[] = []
  const lineOf = new Map<string, number>()
  for await (const line of readJsonLines(path)) {
    if (line.kind === 'problem') throw invalid(line.line, line.reason)
    const checked = kind.parse(line.value)
    if (!checked.ok) throw invalid(line.line, checked.problem)
    const key = kind.key.of(checked.row)
    const earlier = lineOf.get(key)
    if (earlier !== undefined)
      throw invalid(line.line, `${kind.key.name} ${JSON.stringify(key)} stands on line ${earlier} too`)
    lineOf.set(key, line.line)
    rows.push(checked.row)
  }
  if (rows.length === 0) throw invalid(1, `the file holds no ${kind.what}`)
  return rows
}

/**
 * A temporary neighbour, synced, then renamed; readable by its owner only (0600), since rows hold history text. Rows are
 * written as they come; when the iterable throws, nothing is left and that error is thrown.
 * @throws disk-full, file-unreadable (folder cannot be made or written)
 */
export async function writeRowFile<T>(
  path: string,
  rows: Iterable<T> | AsyncIterable<T>,
  files: FileSeam = nodeFiles,
): Promise<void> {
  const encoder = new TextEncoder()
  try {
    await files.makeDirectory(dirname(path))
  } catch (cause) {
    throw new AppError(
      'file-unreadable',
      `cannot make the folder of ${path} (${String(cause)}): choose another --out`,
      {
        cause,
      },
    )
  }
  await writeFileWhole(files, path, async (append) => {
    for await (const row of rows) await append(encoder.encode(`${JSON.stringify(row)}\n`))
  })
}
