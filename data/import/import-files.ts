/**
 * Imports a batch of logs: finds the files, tells their formats, reads them one by one, and reports what each one gave.
 * A bad file never stops the batch.
 */
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { detectFormat, importerNamed } from './detect-format.ts'
import { type FoundLog, findLogs, unreadable } from './find-logs.ts'
import type { Damage, FormatName, LogFile } from './importer.ts'
import { linkSubAgents } from './link-sub-agents.ts'
import { openLog } from './sample-log.ts'

export interface ImportOptions {
  /** `auto` (default) tells each file's format by its content. */
  readonly format?: string
  readonly signal?: AbortSignal
  readonly onFile?: (report: FileReport, number: number, total: number) => void
}

export interface FileReport {
  readonly file: string
  readonly format: FormatName | null
  /** Why it is of that format. */
  readonly evidence: string | null
  readonly runs: number
  readonly interactions: number
  /** Runs without any interaction: not written. */
  readonly emptyRuns: readonly string[]
  /** Records that were left out, or kept with a repair. */
  readonly damage: readonly Damage[]
  /** Records that are no part of a run by their kind. */
  readonly ignored: Readonly<Record<string, number>>
  /** The same bytes were imported under this name already. */
  readonly copyOf: string | null
  /** Why the file as a whole gave nothing. */
  readonly error: AppError | null
}

export interface ImportResult {
  readonly trajectories: readonly Trajectory[]
  readonly files: readonly FileReport[]
  /** Files in the given folders that are no logs by their name. */
  readonly notLogs: readonly string[]
}

/**
 * Trajectories come in the order of the files, and inside a file in the order of the log; ids are unique in the batch.
 * Throws option-invalid (unknown format name); everything that is wrong with a file is in its report.
 */
export async function importFiles(paths: readonly string[], options: ImportOptions = {}): Promise<ImportResult> {
  const forced = options.format === undefined || options.format === 'auto' ? null : importerNamed(options.format)
  const found = await findLogs(paths)
  const files: FileReport[] = []
  const trajectories: Trajectory[] = []
  const ids = new Set<string>()
  const firstOf = new Map<string, string>()
  const report = (entry: FileReport): void => {
    files.push(entry)
    options.onFile?.(entry, files.length, found.logs.length + found.failed.length)
  }
  for (const { name, error } of found.failed) report(failedReport(name, error))
  for (const log of found.logs) {
    options.signal?.throwIfAborted()
    const outcome = await importOne(log, forced?.name ?? null, firstOf)
    for (const trajectory of withUniqueIds(outcome.trajectories, ids)) trajectories.push(trajectory)
    report(outcome.report)
  }
  return { trajectories: linkSubAgents(trajectories), files, notLogs: found.skipped }
}

interface Outcome {
  readonly report: FileReport
  readonly trajectories: readonly Trajectory[]
}

async function importOne(log: FoundLog, forced: FormatName | null, firstOf: Map<string, string>): Promise<Outcome> {
  let format: FormatName | null = forced
  try {
    const file = await openLog(log.path, log.name)
    const first = firstOf.get(file.sha256)
    if (first !== undefined)
      return { trajectories: [], report: { ...failedReport(log.name, null), format, copyOf: first } }
    firstOf.set(file.sha256, log.name)
    const { importer, because } = choose(file, forced)
    format = importer.name
    const imported = await importer.read(file)
    const runs = imported.trajectories.filter((trajectory) => trajectory.interactions.length > 0)
    return {
      trajectories: runs,
      report: {
        file: log.name,
        format,
        evidence: because,
        runs: runs.length,
        interactions: runs.reduce((sum, trajectory) => sum + trajectory.interactions.length, 0),
        emptyRuns: imported.trajectories
          .filter((trajectory) => trajectory.interactions.length === 0)
          .map((trajectory) => trajectory.id),
        damage: imported.damage,
        ignored: imported.ignored,
        copyOf: null,
        error: null,
      },
    }
  } catch (cause) {
    return { trajectories: [], report: { ...failedReport(log.name, fileError(log, cause)), format } }
  }
}

/** What is wrong with the file; anything else is our bug and goes on as it is. */
function fileError(log: FoundLog, cause: unknown): AppError {
  if (cause instanceof AppError && cause.family === 'input') return cause
  if (cause instanceof Error && 'code' in cause && /^E[A-Z]+$/.test(String(cause.code)))
    return unreadable(log.path, cause)
  throw cause
}

function choose(file: LogFile, forced: FormatName | null) {
  if (forced !== null) return { importer: importerNamed(forced), because: 'chosen with --format' }
  const { importer, evidence } = detectFormat(file)
  return { importer, because: evidence.because }
}

function failedReport(file: string, error: AppError | null): FileReport {
  return {
    file,
    format: null,
    evidence: null,
    runs: 0,
    interactions: 0,
    emptyRuns: [],
    damage: [],
    ignored: {},
    copyOf: null,
    error,
  }
}

/** A second run of the same id (a resumed session's other file) gets `~2`; its sub-agents follow. */
function withUniqueIds(trajectories: readonly Trajectory[], ids: Set<string>): readonly Trajectory[] {
  const renamed = new Map<string, string>()
  return trajectories.map((trajectory) => {
    let id = trajectory.id
    for (let copy = 2; ids.has(id); copy += 1) id = `${trajectory.id}~${copy}`
    ids.add(id)
    renamed.set(trajectory.id, id)
    const parent = trajectory.parent === null ? null : (renamed.get(trajectory.parent) ?? trajectory.parent)
    return { ...trajectory, id, parent }
  })
}
