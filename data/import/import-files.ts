/**
 * Imports a batch of logs: finds the files, tells their formats, reads them one by one, hands each run on as soon as it is
 * whole, and reports what each file gave. A bad file never stops the batch.
 */
import { AppError } from '../../src/errors.ts'
import { redactTrajectory } from '../../src/redaction/redact-trajectory.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { detectFormat, importerNamed } from './detect-format.ts'
import { collectFile, type FileCollector, type FileReport } from './file-report.ts'
import { type FoundLog, findLogs, unreadable } from './find-logs.ts'
import type { Importer, LogFile } from './importer.ts'
import { createSubAgentLinks } from './link-sub-agents.ts'
import { openLog } from './sample-log.ts'

export interface ImportOptions {
  /** `auto` (default) tells each file's format by its content. */
  readonly format?: string
  /** Also the branches that a rewind or an edit has left behind. Default: the live history only. */
  readonly allBranches?: boolean
  /** Masks secrets by the rules of docs/redaction.md. Default: texts stay as they are. */
  readonly redact?: boolean
  readonly signal?: AbortSignal
  readonly onFile?: (report: FileReport, number: number, total: number) => void
}

export interface ImportReport {
  readonly files: readonly FileReport[]
  /** Files in the given folders that are no logs, by their name or, for endings like .md, by their content. */
  readonly notLogs: readonly string[]
}

export interface ImportStream {
  /**
   * In the order of the files (those of sub-agents last), and inside a file in the order of the log; ids are unique in the
   * batch, no run is without an interaction. Can be read once; throws option-invalid (unknown format name).
   */
  readonly runs: AsyncIterable<Trajectory>
  /** Grows while `runs` is read, and is complete when that has ended. Everything that is wrong with a file is in here. */
  readonly report: ImportReport
}

export interface ImportResult extends ImportReport {
  readonly trajectories: readonly Trajectory[]
}

/** Needs the memory of the largest run, and of a hash per run. */
export function startImport(paths: readonly string[], options: ImportOptions = {}): ImportStream {
  const files: FileReport[] = []
  const notLogs: string[] = []
  return { runs: importRuns(paths, { options, files, notLogs }), report: { files, notLogs } }
}

/** The whole batch in memory: for small ones. Throws option-invalid (unknown format name). */
export async function importFiles(paths: readonly string[], options: ImportOptions = {}): Promise<ImportResult> {
  const { runs, report } = startImport(paths, options)
  const trajectories: Trajectory[] = []
  for await (const run of runs) trajectories.push(run)
  return { trajectories, ...report }
}

async function* importRuns(
  paths: readonly string[],
  batch: { readonly options: ImportOptions; readonly files: FileReport[]; readonly notLogs: string[] },
): AsyncGenerator<Trajectory> {
  const { options, files, notLogs } = batch
  const forced = options.format === undefined || options.format === 'auto' ? null : importerNamed(options.format)
  const found = await findLogs(paths)
  notLogs.push(...found.skipped)
  let total = found.logs.length + found.failed.length
  const report = (entry: FileReport): void => {
    files.push(entry)
    options.onFile?.(entry, files.length, total)
  }
  const collectorOptions = { allBranches: options.allBranches ?? false }
  for (const { name, error } of found.failed) report(collectFile(collectorOptions).report({ file: name, error }))
  const identify = createIdentities()
  const firstOf = new Map<string, string>()
  for (const log of found.logs) {
    options.signal?.throwIfAborted()
    const opened = await open(log, forced, firstOf)
    if (opened.kind === 'no-log') {
      notLogs.push(log.name)
      total -= 1
      continue
    }
    const collector = collectFile(collectorOptions)
    if (opened.kind === 'done') {
      report(collector.report({ file: log.name, ...opened.outcome }))
      continue
    }
    const { file, importer } = opened
    let error: AppError | null = null
    try {
      for (const entry of file.damage) collector.damage(entry)
      const named = identify()
      for await (const run of importer.read(file, collector)) {
        collector.run(run)
        if (run.interactions.length > 0) yield finished(named(run), options, collector)
        options.signal?.throwIfAborted()
      }
    } catch (cause) {
      error = fileError(log, cause)
    }
    report(collector.report({ file: log.name, format: importer.name, evidence: opened.because, error }))
  }
}

/** Links are made before: a masked task would not equal the prompt that it came from. */
function finished(run: Trajectory, options: ImportOptions, collector: FileCollector): Trajectory {
  if (options.redact !== true) return run
  const { trajectory, counts } = redactTrajectory(run)
  collector.redacted(counts)
  return trajectory
}

type Opened =
  | { readonly kind: 'open'; readonly file: LogFile; readonly importer: Importer; readonly because: string }
  | { readonly kind: 'done'; readonly outcome: Partial<FileReport> }
  | { readonly kind: 'no-log' }

async function open(log: FoundLog, forced: Importer | null, firstOf: Map<string, string>): Promise<Opened> {
  try {
    const file = await openLog(log.path, log.name)
    if (log.isWeak && forced !== null && forced.detect(file.sample) === null) return { kind: 'no-log' }
    const { importer, because } =
      forced === null ? detected(file) : { importer: forced, because: 'chosen with --format' }
    const first = firstOf.get(file.sha256)
    if (first !== undefined) return { kind: 'done', outcome: { format: importer.name, copyOf: first } }
    firstOf.set(file.sha256, log.name)
    return { kind: 'open', file, importer, because }
  } catch (cause) {
    const error = fileError(log, cause)
    const isContent = error.code === 'format-unknown' || error.code === 'log-malformed'
    if (log.isWeak && isContent) return { kind: 'no-log' }
    return { kind: 'done', outcome: { format: forced?.name ?? null, error } }
  }
}

function detected(file: LogFile): { readonly importer: Importer; readonly because: string } {
  const { importer, evidence } = detectFormat(file)
  return { importer, because: evidence.because }
}

/** What is wrong with the file; anything else is our bug and goes on as it is. */
function fileError(log: FoundLog, cause: unknown): AppError {
  if (cause instanceof AppError && cause.family === 'input') return cause
  if (cause instanceof Error && 'code' in cause && /^E[A-Z]+$/.test(String(cause.code)))
    return unreadable(log.path, cause)
  throw cause
}

/**
 * Ids and links over the whole batch; called once per file. A second run of the same id (a resumed session's other file)
 * gets `~2`; its sub-agents follow.
 */
function createIdentities(): () => (trajectory: Trajectory) => Trajectory {
  const ids = new Set<string>()
  const links = createSubAgentLinks()
  return () => {
    const renamed = new Map<string, string>()
    return (trajectory) => {
      let id = trajectory.id
      for (let copy = 2; ids.has(id); copy += 1) id = `${trajectory.id}~${copy}`
      ids.add(id)
      renamed.set(trajectory.id, id)
      const parent = trajectory.parent === null ? null : (renamed.get(trajectory.parent) ?? trajectory.parent)
      return links.link({ ...trajectory, id, parent })
    }
  }
}
