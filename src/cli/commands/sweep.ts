/**
 * keepready sweep: datasets -> which configuration validation prefers, and what test says of choosing that way.
 */
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { nodeFiles, writeTextWhole } from '../../../data/store/file-seam.ts'
import { readDataset } from '../../../data/store/read-dataset.ts'
import { INPUT_KINDS, type InputKind } from '../../../models/router/spec.ts'
import type { EngineChoice } from '../../../training/backends/engine-names.ts'
import { sourceVersion } from '../../../training/source-version.ts'
import { openJournal } from '../../../training/sweep/journal.ts'
import {
  type DatasetSummary,
  evidenceSources,
  requireSameData,
  summariseDataset,
} from '../../../training/sweep/same-data.ts'
import {
  GRID_POSITIVE_WEIGHTS,
  gridConfigurations,
  randomConfigurations,
  type SearchSpace,
  type SweepConfiguration,
} from '../../../training/sweep/search-space.ts'
import { sweep } from '../../../training/sweep/sweep.ts'
import { DEFAULT_TRAIN_CONFIG } from '../../../training/train-config.ts'
import { createWorkerRunner, type JobRunner } from '../../../training/worker-pool.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { readEnvironment } from '../environment.ts'
import { followJobs } from '../follow-jobs.ts'
import { withAction } from '../run-action.ts'
import { sweepText } from '../sweep-text.ts'
import { backendOption, bootstrapOption, openEngine, workersOption } from '../training-options.ts'
import { parseInputKinds, parseNumber, parseNumberList } from '../value-lists.ts'
import { wholeNumberParser } from '../whole-number.ts'

export interface SweepCommandOptions {
  readonly out: string
  readonly inputs: readonly InputKind[]
  readonly positiveWeight?: readonly number[]
  readonly width?: readonly number[]
  readonly dropout?: readonly number[]
  readonly lr?: readonly number[]
  readonly hiddenScale?: readonly number[]
  readonly epochs?: number
  readonly patience?: number
  readonly decay?: number
  readonly minFuture?: number
  readonly random?: number
  readonly seed: number
  readonly bootstrap: number
  readonly workers: number
  readonly backend: EngineChoice
}

export const SWEEP_FILE = 'sweep.json'
/** @param runJobs runs the jobs of one call in order; left out: each call in a process of its own */
export function createCommand(runJobs?: JobRunner): Command {
  const list = (flags: string, description: string, shown: string): Option =>
    new Option(flags, `${description} (default: ${shown})`).argParser(parseNumberList)
  const one = (flags: string, description: string): Option =>
    new Option(flags, `${description} (default: as keepready train)`).argParser(parseNumber)
  const command = new Command('sweep')
    .summary('datasets -> the configuration that validation prefers')
    .description(
      'Trains every configuration in every rotation, lets each rotation choose on its own validation part, and only then ' +
        'opens its test part for the chosen one. Finished jobs are kept: run the same command again to go on.',
    )
    .argument('<dataset...>', 'directories that keepready extract wrote, of the same runs and labels')
    .requiredOption('--out <directory>', `where ${SWEEP_FILE} and the journal of finished jobs go`)
    .addOption(
      new Option('--inputs <kinds>', 'input kinds, with commas between')
        .argParser(parseInputKinds)
        .default(INPUT_KINDS, INPUT_KINDS.join(',')),
    )
    .addOption(list('--positive-weight <weights>', 'loss weights of READY pairs', GRID_POSITIVE_WEIGHTS.join(',')))
    .addOption(list('--width <units>', 'hidden units; 0 = logistic regression', `${DEFAULT_TRAIN_CONFIG.width}`))
    .addOption(list('--dropout <shares>', 'shares of hidden units dropped', `${DEFAULT_TRAIN_CONFIG.dropout}`))
    .addOption(list('--lr <rates>', 'learning rates of AdamW', 'by input kind'))
    .addOption(list('--hidden-scale <stds>', 'standard deviations that h, q and m are brought to', 'by input kind'))
    .addOption(
      new Option(
        '--random <count>',
        'draw so many configurations instead of all; values not given come from docs/sweeps.md',
      ).argParser(wholeNumberParser(1)),
    )
    .addOption(one('--epochs <count>', 'most epochs'))
    .addOption(one('--patience <count>', 'epochs without a better validation PR-AUC'))
    .addOption(one('--decay <rate>', 'weight decay'))
    .addOption(one('--min-future <interactions>', 'validation uses pairs with this much run left'))
    .addOption(
      new Option('--seed <number>', 'rotations, training, random draw, bootstrap')
        .argParser(wholeNumberParser(0))
        .default(1),
    )
    .addOption(bootstrapOption('resamples of groups'))
    .addOption(workersOption('jobs at a time; the result does not depend on it'))
    .addOption(backendOption('training engine, as keepready train'))
    .addHelpText(
      'after',
      `
Examples:
  $ keepready sweep dataset/ --out sweep/ --inputs evidence --width 64,256
  $ keepready sweep layer12/ layer20/ layer28/ --out sweep/ --inputs hidden --positive-weight 10
  $ keepready sweep dataset/ --out sweep/ --random 30 --epochs 10`,
    )
  return withAction<SweepCommandOptions>(command, (context, options, args) => runSweep(context, options, args, runJobs))
}

async function runSweep(
  context: CommandContext,
  options: SweepCommandOptions,
  directories: readonly string[],
  runJobs: JobRunner = createWorkerRunner({ workers: 1, environment: readEnvironment() }),
): Promise<CommandResult> {
  const datasets: DatasetSummary[] = []
  for (const directory of directories) datasets.push(summariseDataset(await readDataset(directory)))
  requireSameData(datasets)
  const configurations = configurationsOf(options, datasets)
  const engine = await openEngine(context, options.backend)
  const journal = await openJournal(options.out)
  const progress = followJobs(context, 'sweep')
  try {
    const record = await sweep(
      {
        datasets,
        read: (number) => readDataset(directories[number] ?? ''),
        search: options.random === undefined ? 'grid' : 'random',
        configurations,
        seed: options.seed,
        resamples: options.bootstrap,
        journal,
        lanes: options.workers,
        runJobs,
        backend: engine.name,
        environment: { source: sourceVersion(), node: process.versions.node },
        signal: context.signal,
      },
      progress.hooks,
    )
    const path = join(options.out, SWEEP_FILE)
    await writeTextWhole(nodeFiles, path, `${JSON.stringify(record)}\n`)
    progress.done(`${configurations.length} configurations in ${record.rotations.length} rotations -> ${path}`)
    return { data: { ...record, file: path }, text: sweepText(record, path) }
  } finally {
    journal.close()
  }
}

function configurationsOf(
  options: SweepCommandOptions,
  datasets: readonly DatasetSummary[],
): readonly SweepConfiguration[] {
  const { random, seed } = options
  const positiveWeight = options.positiveWeight ?? GRID_POSITIVE_WEIGHTS
  const given = {
    positiveWeight,
    width: options.width,
    dropout: options.dropout,
    learningRate: options.lr,
    hiddenScale: options.hiddenScale,
  }
  const space: SearchSpace = {
    evidenceSource: evidenceSources(datasets),
    inputs: options.inputs,
    values: Object.fromEntries(Object.entries(given).filter(([, values]) => values !== undefined)),
    fixed: {
      epochs: options.epochs,
      patience: options.patience,
      decay: options.decay,
      minFuture: options.minFuture,
      seed,
    },
  }
  return random === undefined ? gridConfigurations(space) : randomConfigurations(space, random, seed)
}
