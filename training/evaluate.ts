/**
 * Evaluates held-out predictions of a router beside every baseline (DESIGN section 13). It reads predictions and never
 * trains a router: what it measures is the procedure over five grouped rotations, not the final weights.
 *
 * No I/O and no clock; the dataset and the predictions come in as values, `metrics.json` goes out as a value.
 */
import { setImmediate } from 'node:timers/promises'
import { type Part, rotationSplit } from '../data/rotations.ts'
import type { Dataset } from '../data/store/dataset.ts'
import type { InputKind } from '../models/router/spec.ts'
import { AppError } from '../src/errors.ts'
import { applyIsotonic } from '../src/metrics/isotonic.ts'
import { applyTemperature, fitTemperature } from '../src/metrics/temperature.ts'
import { sigmoid } from '../src/router/decide.ts'
import { DEFAULT_OPERATING_POINT } from '../src/router/operating-points.ts'
import { splitValidation } from '../src/router/validation-halves.ts'
import type { Trajectory } from '../src/trajectory/trajectory.ts'
import { ALL_BASELINES } from './baselines/all-baselines.ts'
import type { Baseline } from './baselines/baseline.ts'
import { createObservationCorpus } from './baselines/observation-corpus.ts'
import { comparePredictors } from './evaluation/compare-predictors.ts'
import { countSubset } from './evaluation/count-subset.ts'
import { EVALUATION_SCHEMA_VERSION, type EvaluationRecord } from './evaluation/evaluation-record.ts'
import type { HeldOutPredictions } from './evaluation/held-out-predictions.ts'
import { type MeasuredPredictor, measurePredictor, type RotationScores } from './evaluation/measure-predictor.ts'
import { recordDataset } from './evaluation/recorded-dataset.ts'
import { createRotationTest, pairsOfGroups, type RotationTest } from './evaluation/rotation-test.ts'
import { type StudiedRotation, studiedPoint, studyRouter, validationPairs } from './evaluation/router-study.ts'
import type { MeasuredPerturbation, StripRecord } from './evaluation/router-study-record.ts'
import { scopesOf } from './evaluation/scopes.ts'
import { STARTING_ROUTER, startingRouterScores } from './evaluation/starting-router.ts'
import { type RotationModel, storagePerturbation } from './evaluation/storage-perturbation.ts'
import { caveatsOf, summarise } from './evaluation/summary.ts'
import { trajectoryStrips } from './evaluation/trajectory-strips.ts'

export interface EvaluationInput {
  readonly dataset: Dataset
  /** The dataset's runs, in its order. */
  readonly trajectories: readonly Trajectory[]
  /** Part of each group, as the router was trained. */
  readonly parts: ReadonlyMap<string, Part>
  readonly router: { readonly directory: string; readonly served: InputKind }
  readonly predictions: readonly HeldOutPredictions[]
  /** Parameters of a rotation of the served input, to measure what storage rounding does; left out: it is not measured. */
  readonly rotationModel?: (rotation: number) => RotationModel
  readonly seed: number
  /** 1000 is usual. */
  readonly resamples: number
}

export interface EvaluationHooks {
  readonly onProgress?: (done: number, total: number, what: string) => void
  readonly signal?: AbortSignal
}

export async function evaluate(input: EvaluationInput, hooks: EvaluationHooks = {}): Promise<EvaluationRecord> {
  const { dataset, predictions } = input
  const rotationNumbers = [...new Set(predictions.map((one) => one.rotation))].sort()
  if (rotationNumbers.length === 0)
    throw new AppError(
      'router-invalid',
      `${input.router.directory} holds no held-out predictions: re-run keepready train`,
    )
  const tests = rotationNumbers.map((rotation) =>
    createRotationTest(dataset, {
      rotation,
      testGroups: rotationSplit(input.parts, rotation).test,
      resamples: input.resamples,
      seed: input.seed,
    }),
  )
  requireBothClasses(tests)
  const inputs = [...new Set(predictions.map((one) => one.inputs))]
  const context = { pairs: dataset.pairs, scopes: scopesOf(tests.flatMap((test) => test.runs)), seed: input.seed }
  const measured: MeasuredPredictor[] = []
  const strips: StripRecord[] = []
  const total = inputs.length + ALL_BASELINES.length
  const step = async (what: string): Promise<void> => {
    hooks.onProgress?.(measured.length, total, what)
    await setImmediate()
    hooks.signal?.throwIfAborted()
  }
  for (const kind of inputs) {
    await step(kind)
    const studied = tests.map((test) => routerScores(input, kind, test))
    const rotations = studied.map((one) => one.scores)
    const description = ROUTER_DESCRIPTION[kind]
    const { record, draws } = measurePredictor({ name: kind, kind: 'router', description, rotations }, context)
    const served = kind === input.router.served
    const perturbed = served ? await measuredPerturbations(input, studied) : []
    measured.push({ draws, record: { ...record, study: studyRouter(dataset, studied, perturbed) } })
    if (served) strips.push(...trajectoryStrips(dataset, rotations, DEFAULT_OPERATING_POINT))
  }
  await step('words of the observations')
  const corpus = createObservationCorpus(dataset.pairs, input.trajectories)
  for (const baseline of ALL_BASELINES) {
    const rotations: RotationScores[] = []
    for (const test of tests) {
      await step(`${baseline.name}, rotation ${test.rotation}`)
      rotations.push(baselineScores(input, baseline, test, corpus))
    }
    const { name, description } = baseline
    measured.push(measurePredictor({ name, kind: 'baseline', description, rotations }, context))
  }
  const started = startingRouterScores(predictions, tests)
  if (started !== null)
    measured.push(measurePredictor({ ...STARTING_ROUTER, kind: 'baseline', rotations: started }, context))
  return recordOf(input, { tests, measured, strips })
}

/** One class can be neither ranked nor calibrated: every number would be missing or mean nothing. */
function requireBothClasses(tests: readonly RotationTest[]): void {
  const pairs = tests.reduce((sum, test) => sum + test.labels.length, 0)
  const ready = tests.reduce((sum, test) => sum + test.labels.reduce((own, label) => own + label, 0), 0)
  if (ready > 0 && ready < pairs) return
  throw new AppError(
    'training-data-insufficient',
    `all ${pairs} held-out pairs are ${ready === 0 ? 'KEEP' : 'READY'}: one class alone cannot be ranked; ` +
      'label more runs (keepready labels shows the prevalence), then extract, train and evaluate again',
    { details: { pairs, ready } },
  )
}

async function measuredPerturbations(
  { dataset, rotationModel, seed }: EvaluationInput,
  rotations: readonly StudiedRotation[],
): Promise<readonly MeasuredPerturbation[]> {
  const point = studiedPoint(rotations)
  if (point === null || rotationModel === undefined) return []
  const found = await storagePerturbation({ dataset, rotations, point, modelOf: rotationModel, seed })
  return found === null ? [] : [found]
}

const ROUTER_DESCRIPTION: Readonly<Record<InputKind, string>> = {
  hidden: "MLP on the frozen LM's vectors [h; q; m], the paper's form",
  'hidden+evidence': 'MLP on [h; q; m] and the online evidence features x',
  evidence: 'MLP on the online evidence features x alone: needs no LM',
}

/**
 * One rotation's held-out logits on its test table, with all that is derived from them.
 * @throws router-invalid when a test pair has no prediction
 */
export function routerScores(
  input: Pick<EvaluationInput, 'dataset' | 'predictions'> & { readonly router: { readonly directory: string } },
  kind: InputKind,
  test: RotationTest,
): StudiedRotation {
  const held = input.predictions.find((one) => one.inputs === kind && one.rotation === test.rotation)
  const where = `${input.router.directory}, rotation ${test.rotation}, ${kind}`
  if (held === undefined)
    throw new AppError('router-invalid', `held-out predictions are missing (${where}): re-run keepready train`)
  const logitOf = new Map<number, number>()
  for (let i = 0; i < held.pairs.length; i++) logitOf.set(held.pairs[i] ?? -1, held.logits[i] ?? Number.NaN)
  const scores = Float64Array.from(test.rows, (pair) => {
    const logit = logitOf.get(pair)
    if (logit === undefined || Number.isNaN(logit))
      throw new AppError(
        'router-invalid',
        `no held-out prediction for test pair ${pair} of ${test.rows.length} (${where}): ` +
          'the router was trained on another dataset or seed; re-run keepready train on this dataset',
      )
    return logit
  })
  const { calibration } = held
  const validation = validationPairs(input.dataset, held)
  const half = validation === null ? null : splitValidation(validation).calibration
  const scale = half === null ? null : fitTemperature(half.logits, half.labels)
  return {
    held,
    scores: {
      test,
      scores,
      probabilities: scores.map(sigmoid),
      temperature: scale === null ? null : scores.map((logit) => applyTemperature(scale, logit)),
      calibrated: calibration === null ? null : scores.map((logit) => applyIsotonic(calibration, logit)),
      operatingPoints: held.operatingPoints.map(({ name, tauLogit }) => ({
        name,
        threshold: tauLogit,
        tau: tauLogit === null ? null : sigmoid(tauLogit),
      })),
    },
  }
}

function baselineScores(
  input: EvaluationInput,
  baseline: Baseline,
  test: RotationTest,
  corpus: ReturnType<typeof createObservationCorpus>,
): RotationScores {
  const { dataset, parts, seed } = input
  const split = rotationSplit(parts, test.rotation as 0 | 1 | 2 | 3 | 4)
  const score = baseline.fit({
    dataset,
    corpus,
    train: pairsOfGroups(dataset, split.train),
    validation: pairsOfGroups(dataset, split.validation),
    seed,
  })
  const scores = score(test.rows)
  return {
    test,
    scores,
    probabilities: baseline.probabilistic ? scores : null,
    calibrated: null,
    operatingPoints: [],
  }
}

function recordOf(
  input: EvaluationInput,
  found: {
    readonly tests: readonly RotationTest[]
    readonly measured: readonly MeasuredPredictor[]
    readonly strips: readonly StripRecord[]
  },
): EvaluationRecord {
  const { tests, measured, strips } = found
  const { dataset, router } = input
  const predictors = measured.map((one) => one.record)
  const comparisons = comparePredictors(measured)
  const counts = { headline: countSubset(tests, 'headline'), all: countSubset(tests, 'all') }
  const oneClassRotations = tests.flatMap(oneClass)
  const words = { served: router.served, predictors, comparisons, counts, rotations: tests.length, oneClassRotations }
  return {
    schemaVersion: EVALUATION_SCHEMA_VERSION,
    summary: summarise(words),
    caveats: caveatsOf(words),
    dataset: recordDataset(dataset),
    router: {
      directory: router.directory,
      served: router.served,
      inputs: predictors.filter((one) => one.kind === 'router').map((one) => one.name as InputKind),
    },
    bootstrap: { resamples: input.resamples, seed: input.seed, level: 0.95 },
    rotations: tests.length,
    counts,
    predictors,
    comparisons,
    baselines: ALL_BASELINES.map((baseline) => baseline.name),
    strips,
    oneClassRotations,
  }
}

/** Named if its headline test pairs hold no READY or no KEEP. */
function oneClass(test: RotationTest): readonly EvaluationRecord['oneClassRotations'][number][] {
  const { mask } = test.subsets.headline
  const pairs = mask.reduce((sum, inside) => sum + inside, 0)
  const ready = mask.reduce((sum, inside, row) => sum + inside * (test.labels[row] ?? 0), 0)
  return ready === 0 || ready === pairs ? [{ rotation: test.rotation, pairs, ready }] : []
}
