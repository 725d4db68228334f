/**
 * keepready import: agent logs -> runs.jsonl.
 */

import { Command } from 'commander'
import type { FileReport } from '../../../data/import/file-report.ts'
import { LOG_ENDINGS, WEAK_ENDINGS } from '../../../data/import/find-logs.ts'
import { type ImportReport, startImport } from '../../../data/import/import-files.ts'
import { IMPORTERS } from '../../../data/import/importers.ts'
import { writeRuns } from '../../../data/store/runs.ts'
import { AppError } from '../../errors.ts'
import type { Trajectory } from '../../trajectory/trajectory.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { startProgress } from '../progress.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'

interface ImportCommandOptions {
  readonly format: string
  readonly out: string
  readonly redact?: boolean
  readonly allBranches?: boolean
}

/** Longer lists are cut on the screen; --json has them whole. */
const SHOWN_RECORDS = 20

export function createCommand(): Command {
  const formats = IMPORTERS.map((importer) => `  ${importer.name.padEnd(20)}${importer.summary}`).join('\n')
  const command = new Command('import')
    .summary('agent logs -> runs.jsonl')
    .description('Reads agent logs of several formats into canonical runs, one JSON line per run.')
    .argument('<paths...>', 'log files, or folders that are searched for them')
    .requiredOption('--out <file>', 'runs file to write (JSONL, readable by you alone)')
    .option('--format <name>', `auto, or one of ${IMPORTERS.map((importer) => importer.name).join(', ')}`, 'auto')
    .option('--redact', 'mask secrets by the rules of docs/redaction.md before anything is written')
    .option('--all-branches', 'also what rewinds and edits have left behind, each branch as a run of its own')
    .addHelpText(
      'after',
      `\nFormats:\n${formats}\n\nExamples:\n  $ keepready import ~/.claude/projects --out runs.jsonl\n  $ keepready import logs --redact --all-branches --out runs.jsonl\n\n` +
        'Damaged records are left out or repaired, and listed; then, or when a file could not be read, the exit code is 1.',
    )
  return withAction<ImportCommandOptions>(command, runImport)
}

async function runImport(
  context: CommandContext,
  options: ImportCommandOptions,
  paths: readonly string[],
): Promise<CommandResult> {
  const progress = startProgress(context, { stage: 'import', total: null, unit: 'files' })
  let interactions = 0
  const { runs, report } = startImport(paths, {
    format: options.format,
    redact: options.redact ?? false,
    allBranches: options.allBranches ?? false,
    signal: context.signal,
    onFile: (file, number, total) => {
      interactions += file.interactions
      progress.update(number, `of ${total}, ${interactions} interactions`)
    },
  })
  const groups = new Set<string>()
  await writeRuns(options.out, someRuns(runs, { report, groups, paths }))
  const result: ImportOutcome = {
    ...report,
    out: options.out,
    runs: report.files.reduce((sum, file) => sum + file.runs, 0),
    interactions,
    groups: groups.size,
    redacted: options.redact === true ? masksOf(report) : null,
  }
  progress.done(`${result.runs} runs, ${interactions} interactions -> ${options.out}`)
  return {
    data: reportData(result),
    text: reportText(result),
    partial: result.files.some((file) => file.error !== null || file.damage.length > 0),
  }
}

interface ImportOutcome extends ImportReport {
  readonly out: string
  readonly runs: number
  readonly interactions: number
  readonly groups: number
  /** Masks by rule; null without --redact. */
  readonly redacted: Readonly<Record<string, number>> | null
}

function masksOf(report: ImportReport): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const file of report.files)
    for (const [rule, count] of Object.entries(file.redacted)) counts[rule] = (counts[rule] ?? 0) + count
  return counts
}

/** The runs as they come; throws when there are none, so that no file is written. */
async function* someRuns(
  runs: AsyncIterable<Trajectory>,
  about: { readonly report: ImportReport; readonly groups: Set<string>; readonly paths: readonly string[] },
): AsyncGenerator<Trajectory> {
  for await (const run of runs) {
    about.groups.add(run.group)
    yield run
  }
  if (about.groups.size === 0) throw nothingImported(about.report, about.paths)
}

/** Nothing to write is the failure of the one file given, or of the batch. */
function nothingImported(result: ImportReport, paths: readonly string[]): AppError {
  const [file] = result.files
  if (file === undefined)
    return new AppError(
      'file-not-found',
      `no log file in ${paths.join(', ')}: logs end in ${[...LOG_ENDINGS, ...WEAK_ENDINGS].join(', ')}`,
    )
  if (result.files.length === 1 && file.error !== null) return file.error
  const reasons = result.files.map(
    (report) =>
      `${report.file}: ${report.error?.message ?? `no run with an interaction (${report.damage.length} damaged records)`}`,
  )
  return new AppError(
    file.error?.code ?? 'log-malformed',
    `nothing to import from ${result.files.length} file(s), nothing was written:\n  ${reasons.slice(0, SHOWN_RECORDS).join('\n  ')}`,
    { details: { files: result.files.map((report) => report.file) } },
  )
}

function reportData(result: ImportOutcome): unknown {
  return {
    out: result.out,
    runs: result.runs,
    interactions: result.interactions,
    groups: result.groups,
    redacted: result.redacted,
    files: result.files.map((file) => ({
      file: file.file,
      format: file.format,
      evidence: file.evidence,
      runs: file.runs,
      interactions: file.interactions,
      empty_runs: file.emptyRuns,
      damaged: file.damage,
      ignored: file.ignored,
      redacted: file.redacted,
      copy_of: file.copyOf,
      error: file.error === null ? null : { code: file.error.code, message: file.error.message },
    })),
    not_logs: result.notLogs,
  }
}

function reportText(result: ImportOutcome): string {
  const table = createResultTable(['file', 'format', 'evidence', '>runs', '>interactions', '>damaged records'])
  for (const file of result.files)
    table.push([
      file.file,
      file.format ?? '-',
      evidenceCell(file),
      String(file.runs),
      String(file.interactions),
      String(file.damage.length),
    ])
  const failed = result.files.flatMap((file) => (file.error === null ? [] : [file.error.message]))
  const damaged = result.files.flatMap((file) =>
    file.damage.map((entry) => `${file.file}${placeOf(entry)}: ${entry.reason}`),
  )
  const empty = result.files.flatMap((file) =>
    file.emptyRuns.map((id) => `${file.file}: run ${id} has no interaction, not written`),
  )
  return [
    table.toString(),
    ...shortened('files that could not be imported:', failed),
    ...shortened('damaged records, left out or repaired:', damaged),
    ...shortened('empty runs:', empty),
    ...(result.notLogs.length === 0
      ? []
      : [`${result.notLogs.length} files are no logs: ${abbreviated(result.notLogs)}`]),
    ...(result.redacted === null ? [] : [redactionText(result.redacted)]),
    `${result.runs} runs, ${result.groups} groups -> ${result.out}`,
    `next: keepready annotate ${result.out} --out labels.jsonl`,
  ].join('\n')
}

function redactionText(counts: Readonly<Record<string, number>>): string {
  const found = Object.entries(counts).map(([rule, count]) => `${rule} ${count}`)
  return found.length === 0 ? 'masked secrets: none found' : `masked secrets: ${found.join(', ')}`
}

function evidenceCell(file: FileReport): string {
  if (file.error !== null) return `failed: ${file.error.code}`
  if (file.copyOf !== null) return `the same bytes as ${file.copyOf}, not imported twice`
  return file.evidence ?? ''
}

function placeOf(entry: { readonly line?: number; readonly index?: number }): string {
  if (entry.line !== undefined) return ` line ${entry.line}`
  return entry.index === undefined ? '' : ` element ${entry.index}`
}

function shortened(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return []
  const more = lines.length - SHOWN_RECORDS
  return [
    title,
    ...lines.slice(0, SHOWN_RECORDS).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more: see --json`] : []),
  ]
}

function abbreviated(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ')
  return names.length > 5 ? `${shown}, ...` : shown
}
