/**
 * One training job: one input kind on one rotation (or the final split), from pairs to folded parameters, held-out
 * predictions and operating points. Jobs know nothing of each other; they run in any process in any order.
 */
import type { Rotation, RotationSplit } from '../data/rotations.ts'
import type { Dataset } from '../data/store/dataset.ts'
import { initialiseRouter } from '../models/router/initialise.ts'
import type {
  EpochRecord,
  PairPredictions,
  RotationEntry,
  RotationRecord,
  SplitMetrics,
  TrainConfig,
} from '../models/router/manifest.ts'
import type { InputKind, RouterParameters, RouterSpec } from '../models/router/spec.ts'
import { foldStandardisation, type Standardisation } from '../models/router/standardisation.ts'
import { AppError, invariant } from '../src/errors.ts'
import { sigmoid } from '../src/router/decide.ts'
import { chooseOperatingPoints } from '../src/router/operating-points.ts'
import { DEFAULT_ADAMW, type TrainerBackend } from './backends/backend.ts'
import { type EngineName, REFERENCE_ENGINE } from './backends/engine-names.ts'
import { openBackend } from './backends/open-backend.ts'
import { type BatchSource, createBatchSource } from './batch.ts'
import { runTraining } from './loop.ts'
import { predict, splitMetrics } from './predict.ts'
import { createJobKeeper, type JobKeeper, type KeepOptions } from './resume/job-keeper.ts'
import { hasBothClasses, pairsOfGroups, type TrajectoryPairs, trustedPairs } from './split-pairs.ts'
import { standardise } from './standardise.ts'
import { readStartingPoint, type StartingRouter } from './starting-router.ts'

export interface TrainJob {
  readonly inputs: InputKind
  readonly rotation: Rotation
  readonly split: RotationSplit
  readonly config: TrainConfig
  /** Left out: ort-cpu. */
  readonly backend?: EngineName | undefined
  /** Fine-tuning: the router whose parameters and standardisation are the first ones. */
  readonly start?: StartingRouter | undefined
  /** Where the job keeps its state after each epoch, and finds it again; decides nothing about the result. */
  readonly keep?: KeepOptions | undefined
}

/** What a rotation's record holds, for the final model too: its test part is empty. */
export interface TrainedRouter
  extends Omit<RotationRecord, 'schemaVersion' | 'rotation' | 'groups' | 'parametersSha256'> {
  readonly inputs: InputKind
  readonly rotation: Rotation
  /** Null where training started from nothing. */
  readonly start: RotationEntry['start']
  /** Standardisation folded in. */
  readonly parameters: RouterParameters
  readonly standardisation: Standardisation
  /** p of training pairs at SCORE_LEVELS. */
  readonly scoreQuantiles: readonly number[]
  readonly engine: { readonly backend: string; readonly version: string }
}

export interface TrainHooks {
  readonly signal?: AbortSignal | undefined
  /** @param pairs trained on in this step */
  readonly onStep?: ((pairs: number, lossNats: number) => void) | undefined
  readonly onEpoch?: ((record: EpochRecord) => void) | undefined
}

export const SCORE_LEVELS = [0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1] as const

export function specOf(dataset: Dataset, inputs: InputKind, config: TrainConfig): RouterSpec {
  return {
    inputs,
    hiddenSize: inputs === 'evidence' ? 0 : dataset.vectors.cols,
    evidenceSize: inputs === 'hidden' ? 0 : dataset.pairs.evidenceSize,
    width: config.width,
    dropout: config.dropout,
  }
}

/** @throws training-data-insufficient, interrupted, output-not-finite, engine-unavailable, session-failed */
export async function trainRotation(dataset: Dataset, job: TrainJob, hooks: TrainHooks = {}): Promise<TrainedRouter> {
  const keeper = createJobKeeper(job.keep)
  const finished = keeper.finished()
  if (finished !== null) return finished
  try {
    const trained = await runJob(dataset, job, { ...hooks, keeper })
    await keeper.finish(trained)
    return trained
  } catch (thrown) {
    throw keeper.explain(thrown)
  }
}

async function runJob(
  dataset: Dataset,
  job: TrainJob,
  hooks: TrainHooks & { readonly keeper: JobKeeper },
): Promise<TrainedRouter> {
  const { config } = job
  const training = pairsOfGroups(dataset, job.split.train)
  const validation = pairsOfGroups(dataset, job.split.validation)
  const test = pairsOfGroups(dataset, job.split.test)
  requirePairs(dataset, job, { training, validation })
  const spec = specOf(dataset, job.inputs, config)
  const start = job.start === undefined ? null : readStartingPoint(job.start, spec)
  const standardisation =
    start?.standardisation ??
    standardise({
      dataset,
      spec,
      trajectories: training,
      positiveWeight: config.positiveWeight,
      hiddenScale: config.hiddenScale,
    })
  const source = createBatchSource({ dataset, spec, standardisation })
  const backend = await openBackend(job.backend ?? REFERENCE_ENGINE, {
    spec,
    parameters: start?.parameters ?? initialiseRouter(spec, config.seed),
    adamw: { ...DEFAULT_ADAMW, learningRate: config.learningRate, decay: config.decay },
  })
  try {
    const trusted = trustedPairs(dataset, validation, config.minFuture)
    const evaluateOn = (trajectories: readonly TrajectoryPairs[]) =>
      evaluateSplit(backend, source, { trajectories, config, signal: hooks.signal })
    const before = start === null ? null : { validation: await evaluateOn(trusted), test: await evaluateOn(test) }
    const state = await runTraining({
      backend,
      source,
      training,
      validation: trusted,
      config,
      state: hooks.keeper.startState(spec),
      signal: hooks.signal,
      onStep: hooks.onStep,
      onEpoch: async (after) => {
        hooks.onEpoch?.(invariant(after.epochs.at(-1), 'an epoch was recorded'))
        await hooks.keeper.onEpoch(spec, after)
      },
    })
    const best = invariant(state.best, 'training ran an epoch')
    backend.importState({ ...state.backend, parameters: best.parameters })
    const onTrusted = await evaluateOn(trusted)
    const onTest = await evaluateOn(test)
    const trainingLogits = await predict(backend, source, training, hooks.signal)
    return {
      inputs: job.inputs,
      rotation: job.rotation,
      spec,
      parameters: foldStandardisation({ spec, parameters: best.parameters, standardisation }),
      standardisation,
      bestEpoch: best.epoch,
      epochs: state.epochs,
      operatingPoints: chooseOperatingPoints({
        logits: onTrusted.predictions.logits,
        labels: onTrusted.predictions.pairs.map((pair) => dataset.pairs.label[pair] as number),
        groups: onTrusted.predictions.pairs.map((pair) => groupOf(dataset, pair)),
      }),
      validation: onTrusted.metrics,
      test: onTest.metrics,
      validationPredictions: onTrusted.predictions,
      testPredictions: onTest.predictions,
      start: before === null ? null : { validation: before.validation.metrics, test: before.test.metrics },
      startPredictions: before?.test.predictions ?? null,
      scoreQuantiles: quantiles(Array.from(trainingLogits, sigmoid), SCORE_LEVELS),
      engine: { backend: backend.name, version: backend.version },
    }
  } finally {
    source.rows.close()
    await backend.close()
  }
}

/** Values at the given levels in [0, 1]: the nearest order statistic. Empty for no values. */
export function quantiles(values: readonly number[], levels: readonly number[]): readonly number[] {
  const sorted = Float64Array.from(values).sort()
  return sorted.length === 0 ? [] : levels.map((level) => sorted[Math.round(level * (sorted.length - 1))] as number)
}

async function evaluateSplit(
  backend: TrainerBackend,
  source: BatchSource,
  split: {
    readonly trajectories: readonly TrajectoryPairs[]
    readonly config: TrainConfig
    readonly signal: AbortSignal | undefined
  },
): Promise<{ metrics: SplitMetrics; predictions: PairPredictions }> {
  const { trajectories, config } = split
  const logits = await predict(backend, source, trajectories, split.signal)
  const { pairs } = source
  return {
    metrics: splitMetrics({ pairs, trajectories, logits, positiveWeight: config.positiveWeight }),
    predictions: { pairs: trajectories.flat(), logits: Array.from(logits) },
  }
}

function requirePairs(
  dataset: Dataset,
  job: TrainJob,
  parts: { readonly training: readonly TrajectoryPairs[]; readonly validation: readonly TrajectoryPairs[] },
): void {
  const where = job.rotation === 'final' ? 'the final model' : `rotation ${job.rotation}`
  if (!hasBothClasses(dataset, parts.training))
    throw new AppError(
      'training-data-insufficient',
      `the training part of ${where} holds ${parts.training.flat().length} pairs of one class: label or import more runs (keepready labels shows the prevalence)`,
    )
  if (parts.validation.length === 0)
    throw new AppError(
      'training-data-insufficient',
      `the validation part of ${where} holds no pairs: import more runs of at least 3 interactions`,
    )
}

function groupOf(dataset: Dataset, pair: number): string {
  return invariant(dataset.trajectories[dataset.pairs.trajectory[pair] as number], 'a pair has a trajectory').group
}
