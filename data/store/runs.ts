/**
 * runs.jsonl: canonical trajectories, one per line, in the order they were imported.
 */
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { FileSeam } from './file-seam.ts'
import { type RowFileKind, readRowFile, writeRowFile } from './row-file.ts'
import { parseTrajectoryRow } from './trajectory.schema.ts'

const RUNS: RowFileKind<Trajectory> = {
  what: 'run',
  command: 'keepready import LOGS --out runs.jsonl',
  parse: parseTrajectoryRow,
  key: { name: 'id', of: (run) => run.id },
}

/** @throws file-not-found, file-unreadable, rows-invalid */
export function readRuns(path: string): Promise<readonly Trajectory[]> {
  return readRowFile(path, RUNS)
}

/** @throws disk-full, file-unreadable, and what the iterable throws: the file is then as it was before */
export function writeRuns(
  path: string,
  runs: Iterable<Trajectory> | AsyncIterable<Trajectory>,
  files?: FileSeam,
): Promise<void> {
  return writeRowFile(path, runs, files)
}
