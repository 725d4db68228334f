/**
 * Runs a study: trains what its design asks for (each different job once), fits the baselines on the same groups, measures
 * every point with the metrics and draws of an evaluation. Resumable: finished jobs stand in the journal.
 */
import { setImmediate } from 'node:timers/promises'
import type { InputKind } from '../../models/router/spec.ts'
import { invariant } from '../../src/errors.ts'
import type { Baseline, BaselineName } from '../baselines/baseline.ts'
import { pairsPerEpoch } from '../epoch-order.ts'
import { scoresOf, type TestScores } from '../evaluation/measure-scores.ts'
import { createRotationTest, pairsOfGroups as pairNumbersOf, type RotationTest } from '../evaluation/rotation-test.ts'
import { datasetKey, jobKey } from '../resume/job-key.ts'
import { hasBothClasses, pairsOfGroups } from '../split-pairs.ts'
import { JOURNAL_SCHEMA_VERSION } from '../sweep/journal.schema.ts'
import { runInLanes } from '../sweep/run-in-lanes.ts'
import { type JobsHooks, trackJobs } from '../sweep/track-jobs.ts'
import type { TrainJob } from '../train-rotation.ts'
import { recordStudy } from './record-study.ts'
import type { DesignedFold, DesignedPoint } from './study-design.ts'
import type { StudyPredictor, StudyRecord } from './study-record.ts'
import { configOf, type MeasuredPoint, referenceName, type StudyRequest } from './study-request.ts'

/** @throws training-data-insufficient, interrupted, disk-full and what the engine throws; finished jobs stay in the journal */
export async function runStudy(request: StudyRequest, hooks: JobsHooks = {}): Promise<StudyRecord> {
  const key = datasetKey(request.dataset)
  const caveats: string[] = []
  const points = request.design.points.map((point) => usablePoint(request, point, caveats))
  const jobOf = (kind: InputKind, point: DesignedPoint, fold: DesignedFold): PlannedJob => {
    const job: TrainJob = {
      inputs: kind,
      rotation: fold.rotation,
      split: fold.split,
      config: configOf(request, kind, point.seed),
      backend: request.backend,
    }
    const pairs = job.config.epochs * pairsPerEpoch(pairsOfGroups(request.dataset, fold.split.train))
    return { job, key: jobKey(key, job, request.environment), pairs }
  }
  await runMissing(
    request,
    points.flatMap(({ point, folds, reference }) =>
      request.inputs.flatMap((kind) => [...folds, ...reference].map((fold) => jobOf(kind, point, fold))),
    ),
    hooks,
  )
  const measured: MeasuredPoint[] = []
  for (const { point, folds, reference } of points) {
    const tests = folds.map(({ rotation, split }) =>
      createRotationTest(request.dataset, {
        rotation,
        testGroups: split.test,
        resamples: request.resamples,
        seed: request.seed,
      }),
    )
    const scores = new Map<string, readonly TestScores[]>()
    const add = (name: string, kind: InputKind, own: readonly DesignedFold[]): void => {
      const lines = own.map((fold) => request.journal.find(jobOf(kind, point, fold).key, ['test', 'failure']))
      if (own.length === 0) return
      if (lines.every((line) => line?.kind === 'test'))
        scores.set(
          name,
          lines.map((line, at) => scoresOf(invariant(tests[at], 'a fold has a test'), line)),
        )
      else caveats.push(`${name} has no value at ${point.label}: its loss diverged; a smaller --lr may help.`)
    }
    for (const kind of request.inputs) {
      add(kind, kind, folds)
      add(referenceName(kind), kind, reference)
    }
    for (const baseline of request.baselines)
      scores.set(baseline.name, await baselineScores(request, baseline, { folds, tests }))
    measured.push({ point, folds, tests, scores })
  }
  return recordStudy({ request, measured, predictors: predictorsOf(request), caveats })
}

interface PlannedJob {
  readonly job: TrainJob
  readonly key: string
  /** Upper bound of the pairs trained on. */
  readonly pairs: number
}

/** Folds whose training part holds both classes, whose validation part has pairs, and whose test part has some too. */
function usablePoint(
  { dataset }: StudyRequest,
  point: DesignedPoint,
  caveats: string[],
): {
  readonly point: DesignedPoint
  readonly folds: readonly DesignedFold[]
  readonly reference: readonly DesignedFold[]
} {
  const folds = point.folds.filter(({ split }) => {
    const training = pairsOfGroups(dataset, split.train)
    return (
      hasBothClasses(dataset, training) &&
      pairsOfGroups(dataset, split.validation).length > 0 &&
      pairsOfGroups(dataset, split.test).length > 0
    )
  })
  if (folds.length < point.folds.length)
    caveats.push(
      `${point.label}: ${point.folds.length - folds.length} of ${point.folds.length} rotations are left out, ` +
        'because a part has no pairs or training has one class only.',
    )
  const usable = new Set(folds.map(({ rotation }) => rotation))
  return { point, folds, reference: point.reference.filter(({ rotation }) => usable.has(rotation)) }
}

function predictorsOf({ inputs, baselines, kind }: StudyRequest): readonly StudyPredictor[] {
  return [
    ...inputs.map(
      (one): StudyPredictor => ({
        name: one,
        kind: 'router',
        inputs: one,
        description: `router that reads ${one}`,
      }),
    ),
    ...(kind === 'domain' ? inputs : []).map(
      (one): StudyPredictor => ({
        name: referenceName(one),
        kind: 'reference',
        inputs: one,
        description: `router that reads ${one}, trained with other groups of the domain too`,
      }),
    ),
    ...baselines.map(({ name, description }: { readonly name: BaselineName; readonly description: string }) => ({
      name,
      kind: 'baseline' as const,
      inputs: null,
      description,
    })),
  ]
}

async function baselineScores(
  { dataset, corpus, seed, signal }: StudyRequest,
  baseline: Baseline,
  { folds, tests }: { readonly folds: readonly DesignedFold[]; readonly tests: readonly RotationTest[] },
): Promise<readonly TestScores[]> {
  const scores: TestScores[] = []
  for (const [at, { split }] of folds.entries()) {
    // Fits block the thread: Ctrl-C gets a turn between them.
    await setImmediate()
    signal?.throwIfAborted()
    const test = invariant(tests[at], 'a fold has a test')
    const train = pairNumbersOf(dataset, split.train)
    const validation = pairNumbersOf(dataset, split.validation)
    const score = baseline.fit({ dataset, corpus, train, validation, seed })
    scores.push({ test, scores: score(test.rows) })
  }
  return scores
}

async function runMissing(request: StudyRequest, planned: readonly PlannedJob[], hooks: JobsHooks): Promise<void> {
  const { dataset, journal } = request
  const different = [...new Map(planned.map((one) => [one.key, one])).values()]
  const missing = different.filter(({ key }) => journal.find(key, ['test', 'failure']) === null)
  const done = different.length - missing.length
  hooks.onPlan?.({ jobs: different.length, done, pairs: missing.reduce((sum, { pairs }) => sum + pairs, 0) })
  const progress = trackJobs<PlannedJob>(done, hooks)
  await runInLanes(
    missing.length === 0
      ? []
      : [{ open: () => Promise.resolve(dataset), jobs: missing.map((one) => ({ job: one.job, tag: one })) }],
    { lanes: request.lanes, runJobs: request.runJobs },
    {
      signal: request.signal,
      onStep: progress.step,
      onResult(job, result) {
        journal.append({
          schemaVersion: JOURNAL_SCHEMA_VERSION,
          kind: 'test',
          key: job.key,
          bestEpoch: result.bestEpoch,
          metrics: result.test,
          pairs: [...result.testPredictions.pairs],
          logits: [...result.testPredictions.logits],
        })
        progress.end(job)
      },
      onDiverged(job, { code, message }) {
        journal.append({ schemaVersion: JOURNAL_SCHEMA_VERSION, kind: 'failure', key: job.key, code, message })
        progress.end(job)
      },
    },
  )
}
