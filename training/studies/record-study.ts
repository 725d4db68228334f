/**
 * From measured points to the record of a study: values, differences, spread between seeds, and what they say. Pure.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { pairedDifferenceInterval } from '../../src/metrics/bootstrap.ts'
import { verdictOf } from '../evaluation/compare-predictors.ts'
import type { ResampledEstimate } from '../evaluation/estimate.ts'
import { MIN_INTERVAL_GROUPS } from '../evaluation/evaluation-record.ts'
import { resampleScores } from '../evaluation/measure-scores.ts'
import { recordDataset } from '../evaluation/recorded-dataset.ts'
import type { RotationTest, TestRun } from '../evaluation/rotation-test.ts'
import { countPositives, pairsOfGroups } from '../split-pairs.ts'
import {
  type SeedSpread,
  STUDY_METRICS,
  STUDY_SCHEMA_VERSION,
  type StudyDifference,
  type StudyMetric,
  type StudyMetricName,
  type StudyPart,
  type StudyPoint,
  type StudyPredictor,
  type StudyRecord,
} from './study-record.ts'
import { configOf, type MeasuredPoint, referenceName, type StudyRequest } from './study-request.ts'
import { summariseStudy } from './summarise-study.ts'

const METRICS: readonly StudyMetric[] = [
  { name: 'withinAuroc', label: 'within-trajectory AUROC', chance: 0.5 },
  { name: 'averagePrecision', label: 'PR-AUC', chance: null },
  { name: 'lift', label: 'lift of PR-AUC over prevalence', chance: 1 },
]

/** By predictor and metric, at one point. */
type Resampled = ReadonlyMap<string, Readonly<Record<StudyMetricName, ResampledEstimate>>>

export function recordStudy(study: {
  readonly request: StudyRequest
  readonly measured: readonly MeasuredPoint[]
  readonly predictors: readonly StudyPredictor[]
  readonly caveats: readonly string[]
}): StudyRecord {
  const { request, measured, predictors } = study
  const { dataset, design } = request
  const resampled = measured.map(resamplePoint)
  const points = measured.map((one, at) => recordPoint(dataset, one, resampled[at] ?? new Map(), predictors))
  const differences = differencesOf(request, points, resampled)
  const seedSpread = request.kind === 'seeds' ? spreadOf(points, predictors) : []
  return {
    schemaVersion: STUDY_SCHEMA_VERSION,
    kind: request.kind,
    title: design.title,
    method: design.method,
    summary: summariseStudy({ kind: request.kind, points, predictors, differences, seedSpread }),
    caveats: [
      'Values estimate the procedure of training, as in an evaluation; no correction is made for the number of comparisons.',
      ...(request.kind === 'domain'
        ? ['Leaving a domain out also makes training smaller: part of a loss may be that.']
        : []),
      ...study.caveats,
    ],
    axis: design.axis,
    metrics: METRICS,
    predictors: predictors.filter(({ name }) =>
      points.some(({ values }) => values.some((one) => one.predictor === name)),
    ),
    points,
    seedSpread,
    differences,
    dataset: recordDataset(dataset),
    configs: Object.fromEntries(request.inputs.map((kind) => [kind, configOf(request, kind, null)])),
    bootstrap: { resamples: request.resamples, seed: request.seed, level: 0.95 },
    engine: request.backend,
    source: request.environment.source,
  }
}

function inDomain(domain: string | null): (run: TestRun) => boolean {
  return (run) => domain === null || run.domain === domain
}

function resamplePoint({ point, scores }: MeasuredPoint): Resampled {
  const contains = inDomain(point.domain)
  const entries = [...scores].filter(([, folds]) => folds.length > 0)
  return new Map(entries.map(([name, folds]) => [name, resampleScores(folds, STUDY_METRICS, contains)]))
}

function recordPoint(
  dataset: Dataset,
  { point, folds, tests }: MeasuredPoint,
  resampled: Resampled,
  predictors: readonly StudyPredictor[],
): StudyPoint {
  const parts = folds.map(({ split }) => partOf(dataset, split.train))
  const test = sumParts(tests.map((one) => testPartOf(one, inDomain(point.domain))))
  return {
    x: point.x,
    label: point.label,
    rotations: folds.map(({ rotation }) => rotation),
    training: meanParts(parts),
    test,
    prevalence: test.prevalence,
    values: predictors.flatMap(({ name }) => {
      const own = resampled.get(name)
      if (own === undefined || own.withinAuroc.estimate.value === null) return []
      const metrics = {
        withinAuroc: own.withinAuroc.estimate,
        averagePrecision: own.averagePrecision.estimate,
        lift: own.lift.estimate,
      }
      return [{ predictor: name, metrics }]
    }),
  }
}

function partOf(dataset: Dataset, groups: ReadonlySet<string>): StudyPart {
  const trajectories = pairsOfGroups(dataset, groups)
  return {
    groups: groups.size,
    runs: trajectories.length,
    pairs: trajectories.reduce((sum, pairs) => sum + pairs.length, 0),
    ready: countPositives(dataset, trajectories),
  }
}

interface TestPart extends StudyPart {
  readonly prevalence: number | null
}

function testPartOf(test: RotationTest, contains: (run: TestRun) => boolean): TestPart {
  const { mask, runWeights } = test.subsets.headline
  const groups = new Set<number>()
  const runs = new Set<number>()
  let [pairs, ready, weight, readyWeight] = [0, 0, 0, 0]
  for (let row = 0; row < mask.length; row++) {
    const number = test.run[row] ?? 0
    const run = test.runs[number]
    if (mask[row] === 0 || run === undefined || !contains(run)) continue
    groups.add(run.group)
    runs.add(number)
    pairs += 1
    ready += test.labels[row] ?? 0
    weight += runWeights[row] ?? 0
    readyWeight += (runWeights[row] ?? 0) * (test.labels[row] ?? 0)
  }
  return { groups: groups.size, runs: runs.size, pairs, ready, prevalence: weight > 0 ? readyWeight / weight : null }
}

const PART_FIELDS = ['groups', 'runs', 'pairs', 'ready'] as const

function sumParts(parts: readonly TestPart[]): TestPart {
  const total = (name: (typeof PART_FIELDS)[number]): number => parts.reduce((sum, part) => sum + part[name], 0)
  const known = parts.map(({ prevalence }) => prevalence).filter((value) => value !== null)
  return {
    groups: total('groups'),
    runs: total('runs'),
    pairs: total('pairs'),
    ready: total('ready'),
    prevalence: known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length,
  }
}

function meanParts(parts: readonly StudyPart[]): StudyPart {
  const mean = (name: (typeof PART_FIELDS)[number]): number =>
    parts.reduce((sum, part) => sum + part[name], 0) / Math.max(1, parts.length)
  return { groups: mean('groups'), runs: mean('runs'), pairs: mean('pairs'), ready: mean('ready') }
}

interface Side {
  readonly predictor: string
  readonly at: number
}

function differencesOf(
  { kind, inputs }: StudyRequest,
  points: readonly StudyPoint[],
  resampled: readonly Resampled[],
): readonly StudyDifference[] {
  const difference = (metric: StudyMetricName, a: Side, b: Side): readonly StudyDifference[] => {
    const left = resampled[a.at]?.get(a.predictor)?.[metric]
    const right = resampled[b.at]?.get(b.predictor)?.[metric]
    const sides = [points[a.at], points[b.at]] as const
    // Rotations that one point lacks would turn a difference of scores into one of groups.
    if (left === undefined || right === undefined || String(sides[0]?.rotations) !== String(sides[1]?.rotations))
      return []
    return [
      {
        metric,
        a: { predictor: a.predictor, point: sides[0]?.label ?? '' },
        b: { predictor: b.predictor, point: sides[1]?.label ?? '' },
        ...compare(left, right),
      },
    ]
  }
  const metrics = ['withinAuroc', 'averagePrecision'] as const
  if (kind === 'domain')
    return points.flatMap((_, at) =>
      inputs.flatMap((one) =>
        metrics.flatMap((metric) => difference(metric, { predictor: one, at }, { predictor: referenceName(one), at })),
      ),
    )
  if (kind === 'seeds') return []
  const last = points.length - 1
  const half = points.findLastIndex(({ x }) => x !== null && x <= (points[last]?.x ?? 0) / 2)
  if (half === -1) return []
  return inputs.flatMap((predictor) =>
    metrics.flatMap((metric) => difference(metric, { predictor, at: last }, { predictor, at: half })),
  )
}

function compare(
  a: ResampledEstimate,
  b: ResampledEstimate,
): Pick<StudyDifference, 'difference' | 'interval' | 'verdict'> {
  const few = Math.min(a.estimate.readyGroups, b.estimate.readyGroups) < MIN_INTERVAL_GROUPS
  const interval = few || a.draws === null || b.draws === null ? null : pairedDifferenceInterval(a.draws, b.draws)
  const [left, right] = [a.estimate.value, b.estimate.value]
  return {
    difference: left === null || right === null ? null : left - right,
    interval,
    verdict: verdictOf(interval),
  }
}

function spreadOf(points: readonly StudyPoint[], predictors: readonly StudyPredictor[]): readonly SeedSpread[] {
  return predictors
    .filter(({ kind }) => kind === 'router')
    .flatMap(({ name }) =>
      STUDY_METRICS.flatMap((metric): readonly SeedSpread[] => {
        const estimates = points
          .flatMap(({ values }) => values.filter((one) => one.predictor === name))
          .map((one) => one.metrics[metric])
        const values = estimates.map(({ value }) => value).filter((value) => value !== null)
        if (values.length < 2) return []
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length
        const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
        const widths = estimates.flatMap(({ interval }) =>
          interval === null ? [] : [(interval.high - interval.low) / 2],
        )
        return [
          {
            predictor: name,
            metric,
            seeds: values.length,
            mean,
            standardDeviation: Math.sqrt(squares / (values.length - 1)),
            low: Math.min(...values),
            high: Math.max(...values),
            groupHalfWidth: widths.length === 0 ? null : widths.reduce((sum, width) => sum + width, 0) / widths.length,
          },
        ]
      }),
    )
}
