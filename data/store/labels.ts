/**
 * labels.jsonl: one row of labels per run, in the order they were annotated.
 */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../src/errors.ts'
import type { LabelRow } from '../annotate/label-record.ts'
import { readJsonLines } from '../import/json-lines.ts'
import { type FileSeam, nodeFiles, writeFileWhole } from './file-seam.ts'
import { parseLabelRow } from './label.schema.ts'

/**
 * Reads and checks every row.
 * Throws file-not-found, file-unreadable, rows-invalid (with the line: damaged JSON, wrong version, unknown key, run that
 * stands twice, no row at all).
 */
export async function readLabels(path: string): Promise<readonly LabelRow[]> {
  if (!existsSync(path))
    throw new AppError(
      'file-not-found',
      `${path} does not exist: make it with \`keepready annotate RUNS --annotator lineage --out ${path}\``,
    )
  const rows: LabelRow[] = []
  const lineOf = new Map<string, number>()
  for await (const line of readJsonLines(path)) {
    if (line.kind === 'problem') throw invalid(path, line.line, line.reason)
    const parsed = parseLabelRow(line.value)
    if (!parsed.ok) throw invalid(path, line.line, parsed.problem)
    const earlier = lineOf.get(parsed.row.trajectory)
    if (earlier !== undefined)
      throw invalid(path, line.line, `run ${JSON.stringify(parsed.row.trajectory)} stands on line ${earlier} too`)
    lineOf.set(parsed.row.trajectory, line.line)
    rows.push(parsed.row)
  }
  if (rows.length === 0) throw invalid(path, 1, 'the file holds no labels')
  return rows
}

/**
 * Writes all rows or nothing: a temporary neighbour, synced, then renamed; readable by its owner only (0600), since quotes
 * are history text. Throws disk-full, file-unreadable (folder not writable).
 */
export async function writeLabels(path: string, rows: readonly LabelRow[], files: FileSeam = nodeFiles): Promise<void> {
  const encoder = new TextEncoder()
  await files.makeDirectory(dirname(path))
  await writeFileWhole(files, path, async (append) => {
    for (const row of rows) await append(encoder.encode(`${JSON.stringify(row)}\n`))
  })
}

function invalid(path: string, line: number, problem: string): AppError {
  return new AppError(
    'rows-invalid',
    `${path} line ${line} is no valid row of labels: ${problem}; make the file again with \`keepready annotate\``,
    { details: { path, line } },
  )
}
