/**
 * keepready train: dataset -> router artefact.
 */
import { Command, Option } from 'commander'
import { readDataset } from '../../../data/store/read-dataset.ts'
import type { RouterManifest, SplitMetrics } from '../../../models/router/manifest.ts'
import { INPUT_KINDS, type InputKind } from '../../../models/router/spec.ts'
import { type EngineChoice, runsOnGpu } from '../../../training/backends/engine-names.ts'
import { sourceVersion } from '../../../training/source-version.ts'
import { trainRouter } from '../../../training/train.ts'
import { DEFAULT_TRAIN_CONFIG } from '../../../training/train-config.ts'
import { createWorkerRunner } from '../../../training/worker-pool.ts'
import { OPERATING_POINT_NAMES } from '../../router/operating-points.ts'
import type { CommandContext, CommandResult } from '../command-context.ts'
import { readEnvironment } from '../environment.ts'
import { createResultTable } from '../result-table.ts'
import { withAction } from '../run-action.ts'
import { startTrainProgress } from '../train-progress.ts'
import { backendOption, openEngine, overridesOf, type TrainingFlags, workersOption } from '../training-options.ts'
import { parseNumber } from '../value-lists.ts'

export interface TrainCommandOptions extends TrainingFlags {
  readonly out: string
  readonly from?: string
  readonly inputs: InputKind | 'auto'
  readonly fresh?: boolean
  readonly workers: number
  readonly backend: EngineChoice
}

export function createCommand(): Command {
  const defaults = DEFAULT_TRAIN_CONFIG
  const number = (flags: string, description: string, shown: number | string): Option =>
    new Option(flags, `${description} (default: ${shown})`).argParser(parseNumber)
  const command = new Command('train')
    .summary('dataset -> router artefact')
    .description(
      'Trains five grouped rotation models with held-out predictions for each input kind, and one final model.',
    )
    .argument('<dataset>', 'directory that keepready extract wrote')
    .requiredOption('--out <directory>', 'router artefact to write')
    .option('--from <router>', 'start from this router (docs/router-artefact.md); tests only on groups new to it')
    .addOption(
      new Option('--inputs <kind>', 'what the router reads; auto trains all and serves what validation prefers')
        .choices(['auto', ...INPUT_KINDS])
        .default('auto'),
    )
    .addOption(number('--width <units>', 'hidden units; 0 = logistic regression', defaults.width))
    .addOption(number('--dropout <share>', 'share of hidden units dropped', defaults.dropout))
    .addOption(number('--epochs <count>', 'most epochs', 'by input kind'))
    .addOption(number('--patience <count>', 'epochs without a better validation PR-AUC', 'by input kind'))
    .addOption(number('--lr <rate>', 'learning rate of AdamW', 'by input kind'))
    .addOption(number('--decay <rate>', 'weight decay, none on biases', defaults.decay))
    .addOption(number('--positive-weight <weight>', 'loss weight of READY pairs', defaults.positiveWeight))
    .addOption(number('--hidden-scale <std>', 'standard deviation that h, q and m are brought to', 'by input kind'))
    .addOption(
      number('--min-future <interactions>', 'validation uses pairs with this much run left', defaults.minFuture),
    )
    .addOption(number('--seed <number>', 'rotations, first weights, order, dropout', defaults.seed))
    .option('--fresh', 'forget what an unfinished run with this --out has done', false)
    .addOption(workersOption('rotations at a time, one on a GPU; the result does not depend on it'))
    .addOption(backendOption('training engine (docs/training.md); auto takes the fastest that is there'))
    .addHelpText(
      'after',
      '\nExample:\n  $ keepready train dataset/ --out router/\n  $ keepready train larger/ --out router-2/ --from router/',
    )
  return withAction<TrainCommandOptions>(command, runTrain)
}

export async function runTrain(
  context: CommandContext,
  options: TrainCommandOptions,
  args: readonly string[],
): Promise<CommandResult> {
  const dataset = await readDataset(args[0] ?? '')
  const engine = await openEngine(context, options.backend)
  const progress = startTrainProgress(context)
  const manifest = await trainRouter({
    dataset,
    out: options.out,
    from: options.from,
    inputs: options.inputs,
    overrides: overridesOf(options),
    runJobs: createWorkerRunner({
      workers: runsOnGpu(engine.name) ? 1 : options.workers,
      environment: readEnvironment(),
    }),
    backend: engine.name,
    node: process.versions.node,
    source: sourceVersion(),
    signal: context.signal,
    fresh: options.fresh,
    ...progress.hooks,
  })
  progress.done(`${manifest.rotations.length} rotation models and the final ${manifest.spec.inputs} -> ${options.out}`)
  return { data: { out: options.out, engine, ...cardOf(manifest) }, text: cardText(options.out, manifest) }
}

type Card = Pick<
  RouterManifest,
  | 'spec'
  | 'servedBecause'
  | 'rotations'
  | 'validation'
  | 'operatingPoints'
  | 'prevalence'
  | 'config'
  | 'bestEpoch'
  | 'representationId'
  | 'parent'
>

function cardOf(manifest: Card): Card {
  const { spec, servedBecause, rotations, validation, operatingPoints } = manifest
  const { prevalence, config, bestEpoch, representationId, parent } = manifest
  return {
    spec,
    servedBecause,
    rotations,
    validation,
    operatingPoints,
    prevalence,
    config,
    bestEpoch,
    representationId,
    parent,
  }
}

function cardText(out: string, manifest: Card): string {
  const { operatingPoints, rotations, spec } = manifest
  const kinds = INPUT_KINDS.filter((kind) => rotations.some((rotation) => rotation.inputs === kind))
  const means = createResultTable(['inputs', 'split', '>within AUROC', '>PR-AUC'])
  for (const kind of kinds) {
    const own = rotations.filter((rotation) => rotation.inputs === kind)
    for (const split of ['validation', 'test'] as const)
      means.push([kind, split, ...meanFigures(own.map((rotation) => rotation[split]))])
    const started = own.flatMap(({ start }) => (start === null ? [] : [start.test]))
    if (started.length > 0) means.push(['the router it started from', 'test', ...meanFigures(started)])
  }
  const points = createResultTable(['operating point', '>tau', '>precision', '>recall', '>pairs', '>groups'])
  for (const name of OPERATING_POINT_NAMES) {
    const { tau, validation } = operatingPoints.points[name]
    points.push([
      name,
      tau === null ? 'none' : tau.toFixed(3),
      figure(validation.precision),
      figure(validation.recall),
      validation.selectedPairs,
      validation.selectedGroups,
    ])
  }
  const { precision } = operatingPoints.points
  return [
    `Router in ${out}: reads ${spec.inputs}, chosen as ${manifest.servedBecause}.`,
    'Means over the rotations (they estimate the procedure; the final model trains on more groups):',
    means.toString(),
    ...fineTuningLines(manifest),
    `Final model: best epoch ${manifest.bestEpoch}, prevalence ${percent(manifest.prevalence.training)} in training, ${percent(manifest.prevalence.validation)} in validation.`,
    points.toString(),
    ...(precision.tau === null
      ? [`READY is never predicted at the default operating point \`precision\`: ${precision.reason}.`]
      : []),
    `Next: keepready evaluate DATASET --router ${out} --out report/`,
  ].join('\n')
}

/** What was dealt, and whether validation prefers the old router. */
function fineTuningLines({ parent, validation }: Card): readonly string[] {
  if (parent === null) return []
  const before = parent.validation.prAuc
  const isBetter = before === null || validation.prAuc === null || validation.prAuc > before
  return [
    `Fine-tuned: ${parent.freshGroups} groups are new to the router it started from and were dealt to the rotations; the others only trained.`,
    `On the final model's validation part PR-AUC went from ${figure(before)} to ${figure(validation.prAuc)}${isBetter ? '' : ': the old router is better there, keep it'}.`,
  ]
}

function meanFigures(splits: readonly SplitMetrics[]): readonly string[] {
  return (['withinAuroc', 'prAuc'] as const).map((metric) => {
    const known = splits.map((split) => split[metric]).filter((value) => value !== null)
    return known.length === 0 ? '-' : figure(known.reduce((sum, value) => sum + value, 0) / known.length)
  })
}

function figure(value: number | null): string {
  return value === null ? '-' : value.toFixed(3)
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}
