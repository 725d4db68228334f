/**
 * Everything that is measured of one predictor, from its scores on each rotation's test part.
 */
import type { PairTable } from '../../data/store/dataset.ts'
import type { GroupStatistic } from '../../src/metrics/bootstrap.ts'
import { createRng, deriveSeed, shuffled } from '../../src/rng.ts'
import { calibrationStatistics, meanBins } from './calibration-statistics.ts'
import { estimateOver } from './estimate.ts'
import {
  type CalibrationMetrics,
  type Estimate,
  METRIC_NAMES,
  type MetricName,
  type OperatingPointMetrics,
  POOLED_METRIC_NAMES,
  POOLED_RATE_NAMES,
  type PredictorRecord,
  RATE_NAMES,
  type RateName,
  type SampledPair,
  type ScopeMetrics,
  type SubsetName,
} from './evaluation-record.ts'
import { meanCurves } from './mean-curves.ts'
import { pooledEstimate, poolSums } from './pooled-estimate.ts'
import { type RotationTest, readyGroupsOf, subsetRows } from './rotation-test.ts'
import { type RankedScores, rankScores, type Scope, scopeStatistics } from './scope-statistics.ts'
import { rateOf, type ThresholdStatistics, thresholdStatistics } from './threshold-statistics.ts'

/** Scores of one rotation. Ranking uses `scores`; what needs probabilities uses `probabilities`. */
export interface RotationScores {
  readonly test: RotationTest
  /** (rows) any monotone score: a router gives logits, which keep more bits near 1. */
  readonly scores: Float64Array
  /** (rows) null where a baseline gives no probability. */
  readonly probabilities: Float64Array | null
  /** (rows) after the isotonic map of the validation part; null where there is none. */
  readonly calibrated: Float64Array | null
  /** (rows) after temperature and offset fitted on the same half; absent or null where there are none. */
  readonly temperature?: Float64Array | null
  /** Thresholds on `scores`, chosen on this rotation's validation part, with their probability. */
  readonly operatingPoints: readonly {
    readonly name: string
    readonly threshold: number | null
    readonly tau: number | null
  }[]
}

export interface Predictor {
  readonly name: string
  readonly kind: 'router' | 'baseline'
  readonly description: string
  readonly rotations: readonly RotationScores[]
}

export interface MeasuredPredictor {
  readonly record: PredictorRecord
  /** Resampled headline values by `metric/scope`: what paired differences are made from. */
  readonly draws: ReadonlyMap<string, Float64Array>
}

export interface MeasureContext {
  readonly pairs: PairTable
  readonly scopes: readonly Scope[]
  readonly seed: number
}

const SAMPLED_PAIRS = 600
/**
 * Metrics with a bootstrap interval; the others, pair-weighted ones among them, stand beside as points: average
 * precision costs a pass over the rows per draw.
 */
const WITH_INTERVAL: Readonly<Record<SubsetName, ReadonlySet<MetricName>>> = {
  headline: new Set<MetricName>([
    'withinAuroc',
    'withinAveragePrecision',
    'withinLift',
    'auroc',
    'averagePrecision',
    'prevalence',
  ]),
  all: new Set<MetricName>(['withinAuroc', 'withinAveragePrecision']),
}
const LENGTH_INTERVAL: ReadonlySet<MetricName> = new Set<MetricName>(['withinAuroc'])
const BASELINE_DOMAIN_INTERVAL: ReadonlySet<MetricName> = new Set<MetricName>([
  'withinAuroc',
  'withinAveragePrecision',
  'auroc',
])

function intervalMetrics(kind: Predictor['kind'], subset: SubsetName, scope: Scope): ReadonlySet<MetricName> {
  if (scope.kind === 'length') return LENGTH_INTERVAL
  if (kind === 'baseline' && scope.kind === 'domain' && subset === 'headline') return BASELINE_DOMAIN_INTERVAL
  return WITH_INTERVAL[subset]
}

export function measurePredictor(predictor: Predictor, context: MeasureContext): MeasuredPredictor {
  const ranked = predictor.rotations.map(({ test, scores }) => rankScores(test, scores))
  const draws = new Map<string, Float64Array>()
  const measure = (subset: SubsetName) => ({
    scopes: context.scopes.map((scope) =>
      measureScope({ ranked, subset, scope, draws, withInterval: intervalMetrics(predictor.kind, subset, scope) }),
    ),
    calibration: measureCalibration(predictor, subset, 'probabilities'),
    temperature: measureCalibration(predictor, subset, 'temperature'),
    calibrated: measureCalibration(predictor, subset, 'calibrated'),
    operatingPoints: measureOperatingPoints(predictor, context.pairs, subset),
  })
  return {
    draws,
    record: {
      name: predictor.name,
      kind: predictor.kind,
      description: predictor.description,
      subsets: { headline: measure('headline'), all: measure('all') },
      curves: meanCurves(ranked),
      sample: predictor.kind === 'router' ? samplePairs(predictor, context) : [],
      study: null,
    },
  }
}

function measureScope(query: {
  readonly ranked: readonly RankedScores[]
  readonly subset: SubsetName
  readonly scope: Scope
  readonly draws: Map<string, Float64Array>
  readonly withInterval: ReadonlySet<MetricName>
}): ScopeMetrics {
  const { ranked, subset, scope, draws, withInterval } = query
  const rotations = ranked.map((one) => ({
    test: one.test,
    readyGroups: readyGroupsOf(one.test, subset, scope.contains),
    statistics: scopeStatistics(one, subset, scope),
  }))
  const metrics = recordOf(METRIC_NAMES, (name) => {
    const resampled = estimateOver(
      rotations.map(({ test, readyGroups, statistics }) => ({
        test,
        readyGroups,
        statistic: statistics.metrics[name],
      })),
      withInterval.has(name),
    )
    if (subset === 'headline' && resampled.draws !== null) draws.set(`${name}/${scope.name}`, resampled.draws)
    return resampled.estimate
  })
  const pooled = recordOf(POOLED_METRIC_NAMES, (name) =>
    pooledEstimate(
      poolSums(
        rotations.map(({ test, readyGroups, statistics }) => ({ test, readyGroups, columns: statistics.sums[name] })),
        { interval: withInterval.has(name) },
      ),
      ([above = 0, below = 0]) => (below > 0 ? above / below : null),
    ),
  )
  return { kind: scope.kind, name: scope.name, ...countScope(ranked, subset, scope), metrics, pooled }
}

function countScope(
  ranked: readonly RankedScores[],
  subset: SubsetName,
  scope: Scope,
): { readonly runs: number; readonly groups: number; readonly pairs: number } {
  let runs = 0
  let groups = 0
  let pairs = 0
  for (const { test } of ranked) {
    const inside = test.runs.filter(scope.contains)
    runs += inside.length
    groups += new Set(inside.map((run) => run.group)).size
    const { mask } = test.subsets[subset]
    const inScope = test.runs.map(scope.contains)
    for (let row = 0; row < mask.length; row++) if (mask[row] === 1 && inScope[test.run[row] ?? 0] === true) pairs += 1
  }
  return { runs, groups, pairs }
}

function measureCalibration(
  predictor: Predictor,
  subset: SubsetName,
  column: 'probabilities' | 'temperature' | 'calibrated',
): CalibrationMetrics | null {
  const byRun: { readonly test: RotationTest; readonly readyGroups: number; readonly own: CalibrationSet }[] = []
  for (const { test, [column]: probabilities } of predictor.rotations) {
    if (probabilities === null || probabilities === undefined) return null
    if (subsetRows(test, subset) === 0) continue
    byRun.push({
      test,
      readyGroups: readyGroupsOf(test, subset),
      own: {
        runs: calibrationStatistics(test, probabilities, subset, 'runWeights'),
        pairs: calibrationStatistics(test, probabilities, subset, 'pairWeights'),
      },
    })
  }
  const estimate = (pick: (own: CalibrationSet) => GroupStatistic, interval: boolean): Estimate =>
    estimateOver(
      byRun.map(({ test, readyGroups, own }) => ({ test, readyGroups, statistic: pick(own) })),
      interval,
    ).estimate
  return {
    ece: estimate((own) => own.runs.ece, subset === 'headline'),
    brier: estimate((own) => own.runs.brier, subset === 'headline'),
    logLoss: estimate((own) => own.runs.logLoss, false),
    ecePairWeighted: estimate((own) => own.pairs.ece, false),
    brierPairWeighted: estimate((own) => own.pairs.brier, false),
    bins: meanBins(byRun.map(({ own }) => own.runs.bins)),
  }
}

interface CalibrationSet {
  readonly runs: ReturnType<typeof calibrationStatistics>
  readonly pairs: ReturnType<typeof calibrationStatistics>
}

function measureOperatingPoints(
  predictor: Predictor,
  pairs: PairTable,
  subset: SubsetName,
): readonly OperatingPointMetrics[] {
  const names = predictor.rotations[0]?.operatingPoints.map((point) => point.name) ?? []
  return names.map((name) => {
    const rotations = predictor.rotations.map(({ test, scores, operatingPoints }) => {
      const point = operatingPoints.find((candidate) => candidate.name === name)
      return {
        test,
        tau: point?.tau ?? null,
        readyGroups: readyGroupsOf(test, subset),
        statistics: thresholdStatistics({ test, pairs, scores, tau: point?.threshold ?? null, subset }),
      }
    })
    const rates = recordOf(RATE_NAMES, (rate) => estimateRate(rotations, rate, subset))
    const totals = poolSums(
      rotations.map(({ test, readyGroups, statistics }) => ({ test, readyGroups, columns: statistics.confusion })),
      { interval: subset === 'headline' },
    )
    const pooled = recordOf(POOLED_RATE_NAMES, (rate) => pooledEstimate(totals, (sums) => rateOf(rate, sums)))
    return { name, taus: rotations.map((one) => one.tau), rates, pooled }
  })
}

function estimateRate(
  rotations: readonly {
    readonly test: RotationTest
    readonly readyGroups: number
    readonly statistics: ThresholdStatistics
  }[],
  rate: RateName,
  subset: SubsetName,
): Estimate {
  return estimateOver(
    rotations.map(({ test, readyGroups, statistics }) => ({ test, readyGroups, statistic: statistics.rates[rate] })),
    subset === 'headline' && !rate.endsWith('PairWeighted'),
  ).estimate
}

/** Headline pairs of all rotations, drawn evenly over labels so that the rarer READY is seen. */
function samplePairs(predictor: Predictor, { pairs, seed }: MeasureContext): readonly SampledPair[] {
  interface Place {
    readonly at: number
    readonly row: number
  }
  const byLabel: readonly [Place[], Place[]] = [[], []]
  predictor.rotations.forEach(({ test, probabilities }, at) => {
    if (probabilities === null) return
    const { mask } = test.subsets.headline
    for (let row = 0; row < mask.length; row++)
      if (mask[row] !== 0) byLabel[test.labels[row] === 1 ? 1 : 0].push({ at, row })
  })
  return byLabel.flatMap((places, label) =>
    shuffled(places, createRng(deriveSeed(seed, 'sampled-pairs', label)))
      .slice(0, SAMPLED_PAIRS / 2)
      .map(({ at, row }): SampledPair => {
        const rotation = predictor.rotations[at]
        const pair = rotation?.test.rows[row] ?? 0
        return {
          age: (pairs.checkpoint[pair] ?? 0) - (pairs.interaction[pair] ?? 0),
          score: Number((rotation?.probabilities?.[row] ?? 0).toFixed(4)),
          label: label === 1 ? 1 : 0,
        }
      }),
  )
}

function recordOf<Name extends string, Value>(
  names: readonly Name[],
  value: (name: Name) => Value,
): Readonly<Record<Name, Value>> {
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>
}
