/**
 * Compares evaluated runs on the pairs that all of them hold out: same groups, same bootstrap draws, paired differences
 * (DESIGN section 13). What is measured, and how, is evaluation's; this only lays the runs on one table of pairs. Pure.
 */
import { ROTATIONS, rotationSplit } from '../../data/rotations.ts'
import type { Dataset } from '../../data/store/dataset.ts'
import { selectPairs } from '../../data/store/select-pairs.ts'
import type { InputKind } from '../../models/router/spec.ts'
import { AppError, invariant } from '../../src/errors.ts'
import { pairedDifferenceInterval } from '../../src/metrics/bootstrap.ts'
import { stabilityOf } from '../../src/metrics/margin-stability.ts'
import { routerScores } from '../evaluate.ts'
import { verdictOf } from '../evaluation/compare-predictors.ts'
import { countSubset } from '../evaluation/count-subset.ts'
import { MIN_INTERVAL_GROUPS, type ScopeMetrics } from '../evaluation/evaluation-record.ts'
import { type MeasuredPredictor, measurePredictor, type RotationScores } from '../evaluation/measure-predictor.ts'
import { createRotationTest, type RotationTest } from '../evaluation/rotation-test.ts'
import { type StudiedRotation, studiedPoint, thresholdAt } from '../evaluation/router-study.ts'
import { scopesOf } from '../evaluation/scopes.ts'
import type { ComparedRun } from './compared-run.ts'
import {
  COMPARED_METRICS,
  COMPARISON_SCHEMA_VERSION,
  type KindComparison,
  type RunComparison,
  type RunDifference,
  type RunStability,
} from './comparison-record.ts'
import { comparisonCaveats, comparisonSummary, differenceWords } from './comparison-words.ts'
import { type MatchedPairs, matchPairs } from './match-pairs.ts'

export interface ComparisonOptions {
  readonly seed: number
  /** 1000 is usual. */
  readonly resamples: number
  readonly onProgress?: (done: number, total: number, what: string) => void
}

/**
 * @param runs two or more; the first is the one the others are measured against
 * @throws option-invalid (fewer than two runs, no kind of input in common), runs-incomparable, labels-mismatch, router-invalid
 */
export function compareRuns(runs: readonly ComparedRun[], options: ComparisonOptions): RunComparison {
  if (runs.length < 2)
    throw new AppError('option-invalid', `${runs.length} run to compare, at least 2 are needed: name another one`)
  const kinds = comparedKinds(runs)
  const matched = matchPairs(runs)
  const table = matchedTable(runs, matched, options)
  let done = 0
  const total = kinds.length * runs.length
  const compared = kinds.map((kind) =>
    compareKind(runs, kind, { table, matched, seed: options.seed }, (what) => {
      options.onProgress?.(done, total, what)
      done += 1
    }),
  )
  const headline = countSubset(table.tests, 'headline')
  const counts = {
    pairs: matched.rows[0]?.length ?? 0,
    headlinePairs: headline.pairs,
    runs: headline.runs,
    groups: headline.groups,
    readyGroups: headline.readyGroups,
  }
  const records = runs.map(({ name, dataset, router, settings }, at) => ({
    name,
    dataset: dataset.directory,
    router,
    representationId: dataset.manifest.representationId,
    settings,
    computedTokens: dataset.manifest.counts.computedTokens,
    heldOutPairs: matched.heldOut[at] ?? 0,
    unmatchedPairs: (matched.heldOut[at] ?? 0) - counts.pairs,
  }))
  return {
    schemaVersion: COMPARISON_SCHEMA_VERSION,
    summary: comparisonSummary(compared, counts),
    caveats: comparisonCaveats(compared, records),
    runs: records,
    matched: counts,
    kinds: compared,
    bootstrap: { resamples: options.resamples, seed: options.seed, level: 0.95 },
  }
}

/** One list per comparison, a kind per run: every kind that all runs trained; or one, the kind that runs were named with. */
function comparedKinds(runs: readonly ComparedRun[]): readonly (readonly InputKind[])[] {
  const trained = runs.map(({ predictions }) => [...new Set(predictions.map((one) => one.inputs))])
  const named = runs.find((run) => run.inputs !== null)?.inputs ?? null
  const wanted = named === null ? (trained[0] ?? []) : [named]
  const lists = wanted
    .map((kind) => runs.map((run) => run.inputs ?? kind))
    .filter((kinds) => kinds.every((kind, at) => trained[at]?.includes(kind) === true))
  if (lists.length > 0) return lists
  const have = runs.map(({ name, inputs }, at) => `${name}: ${inputs ?? trained[at]?.join(' ') ?? ''}`).join('; ')
  throw new AppError(
    'option-invalid',
    `the runs have no kind of input in common that is trained (${have}): name a trained one for each, DATASET,ROUTER,INPUTS`,
  )
}

interface MatchedTable {
  /** The first run's dataset, its pair table cut down to the matched pairs. */
  readonly dataset: Dataset
  readonly tests: readonly RotationTest[]
}

function matchedTable(runs: readonly ComparedRun[], matched: MatchedPairs, options: ComparisonOptions): MatchedTable {
  const first = invariant(runs[0], 'a comparison has a first run')
  const rows = invariant(matched.rows[0], 'matched pairs of the first run')
  const dataset = { ...first.dataset, pairs: selectPairs(first.dataset.pairs, rows) }
  const present = new Set(
    Array.from(dataset.pairs.trajectory, (trajectory) => dataset.trajectories[trajectory]?.group ?? ''),
  )
  const tests = ROTATIONS.flatMap((rotation) => {
    const testGroups = new Set([...rotationSplit(first.parts, rotation).test].filter((group) => present.has(group)))
    if (testGroups.size === 0) return []
    return [createRotationTest(dataset, { rotation, testGroups, resamples: options.resamples, seed: options.seed })]
  })
  return { dataset, tests }
}

interface MeasuredRun {
  readonly name: string
  readonly measured: MeasuredPredictor
  readonly rotations: readonly StudiedRotation[]
}

function compareKind(
  runs: readonly ComparedRun[],
  kinds: readonly InputKind[],
  given: { readonly table: MatchedTable; readonly matched: MatchedPairs; readonly seed: number },
  onRun: (what: string) => void,
): KindComparison {
  const { table, matched, seed } = given
  const scopes = scopesOf(table.tests.flatMap((test) => test.runs)).filter((scope) => scope.kind !== 'length')
  const measured = runs.map((run, at): MeasuredRun => {
    const kind = invariant(kinds[at], 'a kind per run')
    onRun(`${run.name}, ${kind}`)
    const input = {
      dataset: table.dataset,
      predictions: renumbered(run, kind, invariant(matched.rows[at], 'matched pairs of a run')),
      router: { directory: run.router },
    }
    const rotations = table.tests.map((test) => routerScores(input, kind, test))
    return {
      name: run.name,
      rotations,
      measured: measurePredictor(
        { name: run.name, kind: 'router', description: kind, rotations: rotations.map(rankingOnly) },
        { pairs: table.dataset.pairs, scopes, seed },
      ),
    }
  })
  const first = invariant(measured[0], 'a comparison has a first run')
  const others = measured.slice(1)
  return {
    inputs: [...new Set(kinds)].join(' / '),
    kinds,
    values: measured.map(({ name, measured: { record } }) => ({
      run: name,
      scopes: record.subsets.headline.scopes.map(scopeEstimates),
    })),
    differences: others.flatMap((other) => differencesOf(other, first)),
    stability: others.flatMap((other) => stabilityBetween(other, first)),
  }
}

/** Calibration and rates at thresholds are a report's business, and most of its time. */
function rankingOnly({ scores: { test, scores } }: StudiedRotation): RotationScores {
  return { test, scores, probabilities: null, calibrated: null, operatingPoints: [] }
}

/** Predictions of one kind by the numbers of the matched table; validation pairs are not on it. */
function renumbered(run: ComparedRun, kind: InputKind, rows: Int32Array) {
  const numberOf = new Map(Array.from(rows, (pair, at) => [pair, at]))
  return run.predictions
    .filter((one) => one.inputs === kind)
    .map(({ validation: _, ...held }) => {
      const kept = Array.from(held.pairs, (pair, at) => ({
        pair: numberOf.get(pair),
        logit: held.logits[at] ?? Number.NaN,
      }))
      const inside = kept.flatMap(({ pair, logit }) => (pair === undefined ? [] : [{ pair, logit }]))
      return { ...held, pairs: inside.map((one) => one.pair), logits: inside.map((one) => one.logit) }
    })
}

function scopeEstimates({ name, runs, pairs, metrics }: ScopeMetrics) {
  const { withinAuroc, withinAveragePrecision, auroc, averagePrecision, prevalence } = metrics
  return {
    scope: name,
    runs,
    pairs,
    metrics: { withinAuroc, withinAveragePrecision, auroc, averagePrecision, prevalence },
  }
}

function differencesOf(other: MeasuredRun, first: MeasuredRun): readonly RunDifference[] {
  const scopes = other.measured.record.subsets.headline.scopes
  return scopes.flatMap((scope) => {
    const against = first.measured.record.subsets.headline.scopes.find((one) => one.name === scope.name)
    if (against === undefined) return []
    return COMPARED_METRICS.map((metric): RunDifference => {
      const [a, b] = [scope.metrics[metric], against.metrics[metric]]
      const key = `${metric}/${scope.name}`
      const draws = [other.measured.draws.get(key), first.measured.draws.get(key)] as const
      const interval =
        draws[0] === undefined || draws[1] === undefined || a.readyGroups < MIN_INTERVAL_GROUPS
          ? null
          : pairedDifferenceInterval(draws[0], draws[1])
      const difference = a.value === null || b.value === null ? null : a.value - b.value
      const found = {
        run: other.name,
        against: first.name,
        metric,
        scope: scope.name,
        difference,
        interval,
        readyGroups: a.readyGroups,
        verdict: verdictOf(interval),
      }
      return { ...found, words: differenceWords(found) }
    })
  })
}

/** At the first run's studied operating point, over the rotations in which both runs have a threshold. */
function stabilityBetween(other: MeasuredRun, first: MeasuredRun): readonly RunStability[] {
  const both = first.rotations.flatMap((a, at) => {
    const b = other.rotations[at]
    return b === undefined ? [] : [{ a, b }]
  })
  const point = studiedPoint(first.rotations)
  if (point === null) return []
  const distances = { a: [] as number[], b: [] as number[] }
  for (const { a, b } of both) {
    const [tauA, tauB] = [thresholdAt(a, point), thresholdAt(b, point)]
    if (tauA === null || tauB === null) continue
    a.scores.test.rows.forEach((_, row) => {
      if (a.scores.test.subsets.headline.mask[row] === 0) return
      distances.a.push((a.scores.scores[row] ?? 0) - tauA)
      distances.b.push((b.scores.scores[row] ?? 0) - tauB)
    })
  }
  if (distances.a.length === 0) return []
  return [
    {
      run: other.name,
      against: first.name,
      operatingPoint: point,
      ...stabilityOf(Float64Array.from(distances.a), Float64Array.from(distances.b)),
    },
  ]
}
