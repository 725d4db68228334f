/**
 * runs.jsonl: canonical trajectories, one per line, in the order they were imported.
 */

import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { readJsonLines } from '../import/json-lines.ts'
import { type FileSeam, nodeFiles, writeFileWhole } from './file-seam.ts'
import { parseTrajectoryRow } from './trajectory.schema.ts'

/**
 * Reads and checks every row.
 * Throws file-not-found, file-unreadable, rows-invalid (with the line: damaged JSON, wrong version, unknown key, id that
 * stands twice, no row at all).
 */
export async function readRuns(path: string): Promise<readonly Trajectory[]> {
  if (!existsSync(path))
    throw new AppError('file-not-found', `${path} does not exist: make it with \`keepready import LOGS --out ${path}\``)
  const rows: Trajectory[] = []
  const lineOf = new Map<string, number>()
  for await (const line of readJsonLines(path)) {
    if (line.kind === 'problem') throw invalid(path, line.line, line.reason)
    const parsed = parseTrajectoryRow(line.value)
    if (!parsed.ok) throw invalid(path, line.line, parsed.problem)
    const earlier = lineOf.get(parsed.row.id)
    if (earlier !== undefined)
      throw invalid(path, line.line, `id ${JSON.stringify(parsed.row.id)} stands on line ${earlier} too`)
    lineOf.set(parsed.row.id, line.line)
    rows.push(parsed.row)
  }
  if (rows.length === 0) throw invalid(path, 1, 'the file holds no run')
  return rows
}

/**
 * Writes all rows or nothing: a temporary neighbour, synced, then renamed; readable by its owner only (0600).
 * Throws disk-full, file-unreadable (folder not writable).
 */
export async function writeRuns(
  path: string,
  trajectories: readonly Trajectory[],
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
    for (const trajectory of trajectories) await append(encoder.encode(`${JSON.stringify(trajectory)}\n`))
  })
}

function invalid(path: string, line: number, problem: string): AppError {
  return new AppError(
    'rows-invalid',
    `${path} line ${line} is no valid run: ${problem}; make the file again with \`keepready import\``,
    { details: { path, line } },
  )
}
