/**
 * keepready study: dataset -> how quality depends on training data, on having seen the domain, or on the seed.
 */
import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Dataset } from '../../../data/store/dataset.ts'
import { nodeFiles, writeTextWhole } from '../../../data/store/file-seam.ts'
import { readDataset, readDatasetTrajectories } from '../../../data/store/read-dataset.ts'
import { INPUT_KINDS, type InputKind } from '../../../models/router/spec.ts'
import type { EngineChoice } from '../../../training/backends/engine-names.ts'
import { ALL_BASELINES } from '../../../training/baselines/all-baselines.ts'
import type { Baseline } from '../../../training/baselines/baseline.ts'
import { createObservationCorpus } from '../../../training/baselines/observation-corpus.ts'
import { sourceVersion } from '../../../training/source-version.ts'
import { runStudy } from '../../../training/studies/run-study.ts'
import {
  designDomains,
  designFractions,
  designSeeds,
  type StudyDesign,
} from '../../../training/studies/study-design.ts'
import { STUDY_KINDS, type StudyKind } from '../../../training/studies/study-record.ts'
import { openJournal } from '../../../training/sweep/journal.ts'
import { createWorkerRunner, type JobRunner } from '../../../training/worker-pool.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { readEnvironment } from '../environment.ts'
import { followJobs } from '../follow-jobs.ts'
import { withAction } from '../run-action.ts'
import { studyText } from '../study-text.ts'
import {
  backendOption,
  bootstrapOption,
  openEngine,
  overridesOf,
  type TrainingFlags,
  workersOption,
} from '../training-options.ts'
import { parseInputKinds, parseNumber, parseNumberList } from '../value-lists.ts'
import { wholeNumberParser } from '../whole-number.ts'

export interface StudyCommandOptions extends TrainingFlags {
  readonly kind: StudyKind
  readonly out: string
  readonly inputs: readonly InputKind[]
  readonly fractions: readonly number[]
  readonly seeds: number
  readonly baselines: readonly Baseline[]
  readonly seed: number
  readonly bootstrap: number
  readonly workers: number
  readonly backend: EngineChoice
}

export const STUDY_FILE = 'study.json'
const DEFAULT_FRACTIONS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
const DEFAULT_BASELINES = ['age-position-length-lr'] as const
const TEXT_BASELINE = 'observation-tfidf-lr'
/** @param runJobs runs the jobs of one call in order; left out: each call in a process of its own */
export function createCommand(runJobs?: JobRunner): Command {
  const number = (flags: string, description: string): Option =>
    new Option(flags, `${description} (default: as keepready train)`).argParser(parseNumber)
  const command = new Command('study')
    .summary('dataset -> how quality depends on data, domain or seed')
    .description(
      'Trains the same router again and again and changes one thing. Every point is measured on test groups that its models ' +
        'have not seen. Finished jobs are kept: run the same command again to go on.',
    )
    .argument('<dataset>', 'directory that keepready extract wrote')
    .addOption(
      new Option(
        '--kind <kind>',
        'fraction: growing parts of the training groups; domain: each domain left out of training; seeds: other training seeds',
      )
        .choices(STUDY_KINDS)
        .makeOptionMandatory(),
    )
    .requiredOption('--out <directory>', `where ${STUDY_FILE} and the journal of finished jobs go`)
    .addOption(
      new Option('--inputs <kinds>', 'input kinds, with commas between')
        .argParser(parseInputKinds)
        .default(INPUT_KINDS, INPUT_KINDS.join(',')),
    )
    .addOption(
      new Option('--fractions <percents>', 'of kind fraction: percents of the training groups')
        .argParser(parseNumberList)
        .default(DEFAULT_FRACTIONS, DEFAULT_FRACTIONS.join(',')),
    )
    .addOption(
      new Option('--seeds <count>', 'of kind seeds: so many, from --seed on')
        .argParser(wholeNumberParser(2))
        .default(5),
    )
    .addOption(
      new Option(
        '--baselines <names>',
        `fitted at every point: ${ALL_BASELINES.map(({ name }) => name).join(', ')}, or none`,
      )
        .argParser(parseBaselines)
        .default(parseBaselines(DEFAULT_BASELINES.join(',')), DEFAULT_BASELINES.join(',')),
    )
    .addOption(number('--width <units>', 'hidden units; 0 = logistic regression'))
    .addOption(number('--dropout <share>', 'share of hidden units dropped'))
    .addOption(number('--epochs <count>', 'most epochs'))
    .addOption(number('--patience <count>', 'epochs without a better validation PR-AUC'))
    .addOption(number('--lr <rate>', 'learning rate of AdamW'))
    .addOption(number('--decay <rate>', 'weight decay'))
    .addOption(number('--positive-weight <weight>', 'loss weight of READY pairs'))
    .addOption(number('--hidden-scale <std>', 'standard deviation that h, q and m are brought to'))
    .addOption(number('--min-future <interactions>', 'validation uses pairs with this much run left'))
    .addOption(
      new Option('--seed <number>', 'rotations, subsets, training, bootstrap')
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
  $ keepready study dataset/ --kind fraction --inputs evidence --out study-fraction/
  $ keepready study dataset/ --kind domain --out study-domain/
  $ keepready study dataset/ --kind seeds --seeds 5 --inputs evidence,hidden+evidence --out study-seeds/`,
    )
  return withAction<StudyCommandOptions>(command, (context, options, args) =>
    runStudyCommand(context, options, args[0] ?? '', runJobs),
  )
}

async function runStudyCommand(
  context: CommandContext,
  options: StudyCommandOptions,
  directory: string,
  runJobs: JobRunner = createWorkerRunner({ workers: 1, environment: readEnvironment() }),
): Promise<CommandResult> {
  const dataset = await readDataset(directory)
  const design = designOf(dataset, options)
  const needsText = options.baselines.some(({ name }) => name === TEXT_BASELINE)
  const corpus = createObservationCorpus(dataset.pairs, needsText ? await readDatasetTrajectories(directory) : [])
  const engine = await openEngine(context, options.backend)
  const journal = await openJournal(options.out)
  const progress = followJobs(context, 'study')
  try {
    const record = await runStudy(
      {
        kind: options.kind,
        design,
        dataset,
        inputs: options.inputs,
        overrides: overridesOf(options),
        baselines: options.baselines,
        corpus,
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
    const path = join(options.out, STUDY_FILE)
    await writeTextWhole(nodeFiles, path, `${JSON.stringify(record)}\n`)
    progress.done(`${record.points.length} points of ${record.predictors.length} scores -> ${path}`)
    return { data: { ...record, file: path }, text: studyText(record, { directory: options.out, file: path }) }
  } finally {
    journal.close()
  }
}

function designOf({ trajectories }: Dataset, { kind, fractions, seeds, seed }: StudyCommandOptions): StudyDesign {
  switch (kind) {
    case 'fraction':
      return designFractions(trajectories, fractions, seed)
    case 'domain':
      return designDomains(trajectories, seed)
    case 'seeds':
      return designSeeds(
        trajectories,
        Array.from({ length: seeds }, (_, i) => seed + i),
        seed,
      )
    default:
      return kind satisfies never
  }
}

function parseBaselines(text: string): readonly Baseline[] {
  if (text === 'none') return []
  const words = text.split(',').map((word) => word.trim())
  const found = ALL_BASELINES.filter(({ name }) => (words as readonly string[]).includes(name))
  if (found.length !== new Set(words).size)
    throw new InvalidArgumentError(
      `baselines with commas between them are needed, of ${ALL_BASELINES.map(({ name }) => name).join(', ')}.`,
    )
  return found
}
