/**
 * keepready bench train: the subcommand's options, its card and its JSON line.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { TRAIN_BENCH_ROWS, type TrainBenchRow } from '../../training/bench/bench-record.ts'
import { runTrainBench, type TrainBenchOptions } from '../../training/bench/run-train-bench.ts'
import { PAPER_SIZE } from '../../training/synthetic/synthetic-spec.ts'
import { machineSetting } from './bench-setting.ts'
import { trainCard } from './bench-train-card.ts'
import { trainFigures } from './bench-train-figures.ts'
import type { CommandContext, CommandResult } from './command-context.ts'
import { readEnvironment } from './environment.ts'
import { startProgress } from './progress.ts'
import { withAction } from './run-action.ts'
import { wholeNumber } from './whole-number.ts'

interface TrainFlags {
  readonly only?: readonly TrainBenchRow[]
  readonly quick: boolean
  readonly repeats?: string
  readonly data?: string
}

type Shape = Pick<
  TrainBenchOptions,
  'spec' | 'width' | 'repeats' | 'plainRepeats' | 'share' | 'candidates' | 'resamples'
>

/** The paper's size, and what the table asks for. */
const FULL: Shape = {
  spec: PAPER_SIZE,
  width: 2048,
  repeats: 5,
  plainRepeats: 2,
  share: 0.03,
  candidates: 64,
  resamples: 1000,
}

const QUICK: Shape = {
  spec: { ...PAPER_SIZE, trajectories: 24, lengths: [8, 9, 10], hiddenSize: 64, latents: 2, prevalence: 0.25 },
  width: 64,
  repeats: 2,
  plainRepeats: 1,
  share: 0.5,
  candidates: 64,
  resamples: 100,
}

export function createTrainBench(): Command {
  const command = new Command('train')
    .summary('training at the size of the paper: engines, batches, a whole job, memory, metrics')
    .description(
      'Measures training on made data of the size of the paper: engines and batch schemes step by step and interleaved,\n' +
        'a job of five rotations extrapolated from 3 % of one, scoring from cached projections, the memory of a dataset and\n' +
        'the time of metrics. Takes about ten minutes and 2.3 GB of disk. docs/training.md says how each row is measured.\n' +
        'The last line on stdout is one JSON document.',
    )
    .addOption(
      new Option('--only <rows...>', 'rows of the table to measure (default: all)').choices([...TRAIN_BENCH_ROWS]),
    )
    .option(
      '--repeats <n>',
      `runs of each arm (default: ${FULL.repeats}; tfjs with its own derivatives ${FULL.plainRepeats})`,
    )
    .option('--data <directory>', 'keep the made datasets there, or use those of an earlier run')
    .option('--quick', 'a smoke run of half a minute: small shapes, nothing judged', false)
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready bench train\n  $ keepready bench train --only job memory --data /tmp/bench-data\n  $ keepready bench train --quick --json',
    )
  return withAction<TrainFlags>(command, runTrainBenchCommand)
}

async function runTrainBenchCommand(context: CommandContext, flags: TrainFlags): Promise<CommandResult> {
  const base = flags.quick ? QUICK : FULL
  const repeats = flags.repeats === undefined ? base.repeats : wholeNumber('--repeats', flags.repeats, 1)
  const rows = TRAIN_BENCH_ROWS.filter((row) => flags.only === undefined || flags.only.includes(row))
  const machine = machineSetting()
  const made = flags.data === undefined ? mkdtempSync(join(tmpdir(), 'keepready-bench-train-')) : null
  const progress = startProgress(context, { stage: 'bench train', total: null, unit: 'measurements' })
  let measurements = 0
  try {
    const record = await runTrainBench({
      ...base,
      repeats,
      rows,
      // Sizes that differ never share a folder.
      directory: join(flags.data ?? made ?? '', flags.quick ? 'quick' : 'paper-size'),
      environment: readEnvironment(),
      signal: context.signal,
      onStep(what) {
        measurements += 1
        progress.update(measurements, what)
      },
    })
    progress.done(`${rows.length} rows`)
    const figures = trainFigures({ record, rows, judged: !flags.quick })
    const { hiddenSize } = base.spec
    const setting = { ...machine, hiddenSize, width: base.width, repeats, quick: flags.quick }
    const document = { bench: 'train', figures, ...setting, spec: base.spec, ...record }
    return { data: document, text: `${trainCard({ setting, record, figures })}\n${JSON.stringify(document)}` }
  } finally {
    if (made !== null) rmSync(made, { recursive: true, force: true })
  }
}
