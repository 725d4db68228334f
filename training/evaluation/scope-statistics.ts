/**
 * The metrics of one predictor in one rotation, as functions of group multiplicities, for any scope (all test runs, a
 * domain, runs of like length) and any sub-set of pairs.
 */
import type { GroupStatistic } from '../../src/metrics/bootstrap.ts'
import { groupedAuroc, groupedRatio, sumByGroup } from '../../src/metrics/group-statistics.ts'
import { groupedAveragePrecision } from '../../src/metrics/grouped-average-precision.ts'
import { type Ranking, rankByScore, restrictRanking } from '../../src/metrics/ranking.ts'
import { type TrajectoryMetrics, withinTrajectories } from '../../src/metrics/within-trajectory.ts'
import type { MetricName, PooledMetricName, SubsetName } from './evaluation-record.ts'
import type { RotationTest, TestRun } from './rotation-test.ts'

export interface Scope {
  readonly kind: 'all' | 'domain' | 'length'
  readonly name: string
  readonly contains: (run: TestRun) => boolean
}

/** Scores of one rotation, ranked once. */
export interface RankedScores {
  readonly test: RotationTest
  /** (rows of the test) */
  readonly scores: Float64Array
  readonly ranking: Ranking
  /** Per sub-set: runs that hold both classes; `trajectory` is the index into test.runs. */
  readonly within: Readonly<Record<SubsetName, readonly TrajectoryMetrics[]>>
}

export function rankScores(test: RotationTest, scores: Float64Array): RankedScores {
  return {
    test,
    scores,
    ranking: rankByScore(scores),
    within: { headline: withinOf(test, scores, 'headline'), all: withinOf(test, scores, 'all') },
  }
}

export interface ScopeStatistics {
  readonly metrics: Readonly<Record<MetricName, GroupStatistic>>
  /** [numerators, denominators] by group of the values that may be pooled over rotations. */
  readonly sums: Readonly<Record<PooledMetricName, readonly [Float64Array, Float64Array]>>
}

export function scopeStatistics(ranked: RankedScores, subset: SubsetName, scope: Scope): ScopeStatistics {
  const { test } = ranked
  const { mask, runWeights, pairWeights } = test.subsets[subset]
  const inScope = test.runs.map(scope.contains)
  const scopeMask = mask.map((inside, row) => (inside === 1 && inScope[test.run[row] ?? 0] === true ? 1 : 0))
  const ranking = restrictRanking(ranked.ranking, scopeMask)
  const columns = { ranking, labels: test.labels, group: test.group, groups: test.groups }
  const averagePrecision = groupedAveragePrecision({ ...columns, weights: runWeights })
  const within = ranked.within[subset].filter((one) => inScope[one.trajectory] === true)
  const group = within.map((one) => test.runs[one.trajectory]?.group ?? 0)
  const withinSums = (
    value: (one: TrajectoryMetrics) => number,
    weight: (one: TrajectoryMetrics) => number = () => 1,
  ): readonly [Float64Array, Float64Array] => [
    sumByGroup(
      within.map((one) => value(one) * weight(one)),
      group,
      test.groups,
    ),
    sumByGroup(within.map(weight), group, test.groups),
  ]
  const sums = {
    withinAuroc: withinSums((one) => one.auroc),
    withinAveragePrecision: withinSums((one) => one.averagePrecision),
    prevalence: prevalenceSums(test, runWeights, scopeMask),
  }
  const withinAveragePrecision = groupedRatio(...sums.withinAveragePrecision)
  const prevalence = groupedRatio(...sums.prevalence)
  return {
    sums,
    metrics: {
      withinAuroc: groupedRatio(...sums.withinAuroc),
      withinAurocPairWeighted: groupedRatio(
        ...withinSums(
          (one) => one.auroc,
          (one) => one.pairs,
        ),
      ),
      withinAveragePrecision,
      withinLift: quotient(withinAveragePrecision, groupedRatio(...withinSums((one) => one.prevalence))),
      auroc: groupedAuroc({ ...columns, weights: runWeights }),
      aurocPairWeighted: groupedAuroc({ ...columns, weights: pairWeights }),
      averagePrecision,
      averagePrecisionPairWeighted: groupedAveragePrecision({ ...columns, weights: pairWeights }),
      prevalence,
      lift: quotient(averagePrecision, prevalence),
    },
  }
}

function withinOf(test: RotationTest, scores: Float64Array, subset: SubsetName): readonly TrajectoryMetrics[] {
  const { mask } = test.subsets[subset]
  const rows = Array.from(mask.keys()).filter((row) => mask[row] === 1)
  return withinTrajectories(
    rows.map((row) => scores[row] ?? 0),
    rows.map((row) => test.labels[row] ?? 0),
    rows.map((row) => test.run[row] ?? 0),
  )
}

function prevalenceSums(
  test: RotationTest,
  weights: Float64Array,
  mask: Uint8Array,
): readonly [Float64Array, Float64Array] {
  const inside = weights.map((weight, row) => weight * (mask[row] ?? 0))
  const ready = inside.map((weight, row) => weight * (test.labels[row] ?? 0))
  return [sumByGroup(ready, test.group, test.groups), sumByGroup(inside, test.group, test.groups)]
}

function quotient(above: GroupStatistic, below: GroupStatistic): GroupStatistic {
  return (multiplicity) => {
    const divisor = below(multiplicity)
    if (divisor === null || divisor === 0) return null
    const value = above(multiplicity)
    return value === null ? null : value / divisor
  }
}
