/**
 * How fast logs are imported: MB of log per second of CPU time, format by format, each alone in this process after a pass
 * that warms it up. CPU time, because "on one core" must mean the same on a busy machine.
 */
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { collectFile } from '../../data/import/file-report.ts'
import { findLogs } from '../../data/import/find-logs.ts'
import type { FormatName, Importer } from '../../data/import/importer.ts'
import { IMPORTERS } from '../../data/import/importers.ts'
import { openLog } from '../../data/import/sample-log.ts'
import { writeRuns } from '../../data/store/runs.ts'
import { AppError } from '../errors.ts'
import type { Trajectory } from '../trajectory/trajectory.ts'
import { GENERATED_FORMATS, generateLog } from './bench-import-logs.ts'

export interface FormatSpeed {
  readonly format: FormatName
  /** Made for this run, or read from the given folders. */
  readonly isGenerated: boolean
  readonly files: number
  readonly megabytes: number
  readonly runs: number
  readonly interactions: number
  /** Log to trajectories, MB per CPU second. */
  readonly readMbPerSecond: number
  /** The same by the clock. */
  readonly readMbPerWallSecond: number
  /** Log to runs.jsonl on the disk, MB of log per CPU second. */
  readonly writtenMbPerSecond: number
  /** JSON.parse and JSON.stringify of the same lines: what no importer can be faster than. null for logs in other forms. */
  readonly jsonMbPerSecond: number | null
}

export interface ImportBenchOptions {
  /** Log read per format and measurement, MB. */
  readonly megabytes: number
  /** Folders with logs of further formats; small ones are read several times. */
  readonly folders: readonly string[]
  readonly rounds: number
  readonly seed: number
  readonly signal: AbortSignal
  readonly onFormat: (format: string, number: number) => void
}

/** Formats in the order of IMPORTERS; those without a log are not in the result. */
export async function benchImport(options: ImportBenchOptions): Promise<readonly FormatSpeed[]> {
  const folder = await mkdtemp(join(tmpdir(), 'keepready-bench-'))
  try {
    const generated = new Map<FormatName, string>()
    for (const format of GENERATED_FORMATS) {
      const path = join(folder, `${format}.jsonl`)
      await writeLines(path, generateLog(format, options.megabytes * 1e6, options.seed))
      generated.set(format, path)
    }
    const found = await logsByFormat(options.folders)
    const speeds: FormatSpeed[] = []
    for (const importer of IMPORTERS) {
      options.signal.throwIfAborted()
      const made = generated.get(importer.name)
      const paths = made === undefined ? (found.get(importer.name) ?? []) : [made]
      if (paths.length === 0) continue
      options.onFormat(importer.name, speeds.length)
      const log = { importer, paths, isGenerated: made !== undefined }
      speeds.push(await measureFormat(log, { ...options, folder }))
    }
    return speeds
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeLines(path: string, lines: Iterable<string>): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  let pending = ''
  for (const line of lines) {
    pending += line
    if (pending.length < 1 << 22) continue
    await file.writeFile(pending)
    pending = ''
  }
  await file.writeFile(pending)
}

/** Files that exactly one importer claims and can read. */
async function logsByFormat(folders: readonly string[]): Promise<ReadonlyMap<FormatName, readonly string[]>> {
  const byFormat = new Map<FormatName, string[]>()
  const { logs } = await findLogs(folders)
  for (const log of logs) {
    const claims = await claimsOf(log.path)
    const [claim] = claims
    if (claim === undefined || claims.length > 1 || !(await canRead(claim, log.path))) continue
    byFormat.set(claim.name, [...(byFormat.get(claim.name) ?? []), log.path])
  }
  return byFormat
}

/** None for what cannot be opened at all. */
async function claimsOf(path: string): Promise<readonly Importer[]> {
  try {
    const { sample } = await openLog(path, path)
    return IMPORTERS.filter((importer) => importer.detect(sample) !== null)
  } catch (cause) {
    if (cause instanceof AppError) return []
    throw cause
  }
}

async function canRead(importer: Importer, path: string): Promise<boolean> {
  try {
    let runs = 0
    for await (const _ of readAll(importer, [path])) runs += 1
    return runs > 0
  } catch (cause) {
    if (cause instanceof AppError) return false
    throw cause
  }
}

interface MeasuredLog {
  readonly importer: Importer
  readonly paths: readonly string[]
  readonly isGenerated: boolean
}

async function measureFormat(
  { importer, paths, isGenerated }: MeasuredLog,
  options: ImportBenchOptions & { readonly folder: string },
): Promise<FormatSpeed> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  const once = sizes.reduce((sum, size) => sum + size, 0)
  const passes = Math.max(1, Math.ceil((options.megabytes * 1e6) / once))
  const counts = { runs: 0, interactions: 0 }
  const consume = async (): Promise<void> => {
    counts.runs = 0
    counts.interactions = 0
    for await (const run of readAll(importer, paths)) {
      counts.runs += 1
      counts.interactions += run.interactions.length
    }
  }
  const write = (): Promise<void> => writeRuns(join(options.folder, 'runs.jsonl'), readAll(importer, paths))
  const repeated = async (once: () => Promise<void>): Promise<void> => {
    for (let pass = 0; pass < passes; pass += 1) await once()
  }
  await consume()
  const read = await medianSpeed(() => repeated(consume), { bytes: once * passes, ...options })
  const written = await medianSpeed(() => repeated(write), { bytes: once * passes, ...options })
  const [path = ''] = paths
  const json = isGenerated ? await medianSpeed(() => copyJson(path), { bytes: once, ...options }) : null
  return {
    format: importer.name,
    isGenerated,
    files: paths.length,
    megabytes: (once * passes) / 1e6,
    ...counts,
    readMbPerSecond: read.cpu,
    readMbPerWallSecond: read.wall,
    writtenMbPerSecond: written.cpu,
    jsonMbPerSecond: json?.cpu ?? null,
  }
}

async function* readAll(importer: Importer, paths: readonly string[]): AsyncGenerator<Trajectory> {
  for (const path of paths) {
    const file = await openLog(path, path)
    for await (const run of importer.read(file, collectFile({ allBranches: false }))) yield run
  }
}

async function copyJson(path: string): Promise<void> {
  const file = await openLog(path, path)
  let size = 0
  for await (const line of file.lines()) if (line.kind === 'record') size += JSON.stringify(line.value).length
  if (size === 0) throw new RangeError(`${path} holds no record`)
}

async function medianSpeed(
  work: () => Promise<void>,
  about: { readonly bytes: number; readonly rounds: number; readonly signal: AbortSignal },
): Promise<{ readonly cpu: number; readonly wall: number }> {
  const cpu: number[] = []
  const wall: number[] = []
  for (let round = 0; round < about.rounds; round += 1) {
    about.signal.throwIfAborted()
    const cpuBefore = process.cpuUsage()
    const before = performance.now()
    await work()
    const { user, system } = process.cpuUsage(cpuBefore)
    cpu.push(about.bytes / (user + system))
    wall.push(about.bytes / 1000 / (performance.now() - before))
  }
  return { cpu: median(cpu), wall: median(wall) }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
