/**
 * keepready bench import: the subcommand's options, its card and its JSON line.
 */
import { Command } from 'commander'
import { packageFile } from '../../models/package-root.ts'
import { benchImport, type FormatSpeed } from './bench-import.ts'
import type { CommandContext, CommandResult } from './command-context.ts'
import { startProgress } from './progress.ts'
import { createResultTable } from './result-table.ts'
import { withAction } from './run-action.ts'
import { wholeNumber } from './whole-number.ts'

interface ImportBenchFlags {
  readonly logs?: readonly string[]
  readonly megabytes: string
  readonly rounds: string
  readonly seed: string
}

/** Issue 4, for plain JSONL on one core. */
const GOAL_MB_PER_SECOND = 50

export function createImportBench(): Command {
  const command = new Command('import')
    .summary('MB of log per second, by format')
    .description(
      'Imports made-up logs of the plain JSONL formats, and real ones of further formats from folders, and prints MB\n' +
        'per second of CPU time: medians over rounds, each format warm. The last line on stdout is one JSON document.',
    )
    .option('--logs <folders...>', 'logs of further formats (default: the samples of this package)')
    .option('--megabytes <n>', 'MB of log per format and round', '32')
    .option('--rounds <n>', 'rounds to take medians over', '3')
    .option('--seed <n>', 'seed of the made-up logs', '0')
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready bench import\n  $ keepready bench import --megabytes 8 --rounds 1 --json',
    )
  return withAction<ImportBenchFlags>(command, runImportBench)
}

async function runImportBench(context: CommandContext, flags: ImportBenchFlags): Promise<CommandResult> {
  const megabytes = wholeNumber('--megabytes', flags.megabytes, 1)
  const rounds = wholeNumber('--rounds', flags.rounds, 1)
  const seed = wholeNumber('--seed', flags.seed, 0)
  const progress = startProgress(context, { stage: 'bench import', total: null, unit: 'formats' })
  const speeds = await benchImport({
    megabytes,
    rounds,
    seed,
    folders: flags.logs ?? [packageFile('data', 'samples')],
    signal: context.signal,
    onFormat: (format, number) => progress.update(number, format),
  })
  progress.done(`${speeds.length} formats, ${rounds} rounds of ${megabytes} MB`)
  const document = { bench: 'import', figures: speeds.map(figureOf), megabytes, rounds, seed, formats: speeds }
  return { data: document, text: `${tableOf(speeds)}\n${JSON.stringify(document)}` }
}

interface Figure {
  readonly name: string
  readonly value: number
  readonly goal: number | null
  readonly ok: boolean | null
}

function figureOf({ format, isGenerated, readMbPerSecond }: FormatSpeed): Figure {
  const name = `import of ${format}, MB per CPU second`
  const value = Number(readMbPerSecond.toPrecision(4))
  if (!isGenerated) return { name, value, goal: null, ok: null }
  return { name, value, goal: GOAL_MB_PER_SECOND, ok: readMbPerSecond >= GOAL_MB_PER_SECOND }
}

function tableOf(speeds: readonly FormatSpeed[]): string {
  const table = createResultTable([
    'format',
    'log',
    '>MB',
    '>runs',
    '>interactions',
    '>MB/s of CPU',
    '>by the clock',
    '>with runs.jsonl written',
    '>JSON alone',
    `${GOAL_MB_PER_SECOND} or more`,
  ])
  for (const speed of speeds)
    table.push([
      speed.format,
      speed.isGenerated ? 'made up' : `${speed.files} files`,
      speed.megabytes.toFixed(1),
      String(speed.runs),
      String(speed.interactions),
      speed.readMbPerSecond.toFixed(1),
      speed.readMbPerWallSecond.toFixed(1),
      speed.writtenMbPerSecond.toFixed(1),
      speed.jsonMbPerSecond?.toFixed(1) ?? '',
      judgement(speed),
    ])
  return [
    table.toString(),
    'MB of log per second of CPU time of the whole process, the collector\'s threads included; "JSON alone" is reading,',
    'JSON.parse and JSON.stringify of the same lines. Files of a few kB measure what it costs to open one.',
  ].join('\n')
}

function judgement(speed: FormatSpeed): string {
  const { ok } = figureOf(speed)
  if (ok === null) return 'no goal'
  return ok ? 'yes' : 'NO'
}
