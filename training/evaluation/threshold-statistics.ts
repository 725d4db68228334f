/**
 * What one threshold does in one rotation, as functions of group multiplicities: rates over pairs, and when each
 * interaction is first called READY beside the boundary where it becomes so.
 */
import type { GroupStatistic } from '../../src/metrics/bootstrap.ts'
import { thresholdRates } from '../../src/metrics/confusion.ts'
import { groupedRatio, sumByGroup } from '../../src/metrics/group-statistics.ts'
import type { PooledRateName, RateName } from './evaluation-record.ts'
import { firstSelections, isTimely, type ThresholdQuery } from './first-selections.ts'
import type { RotationTest } from './rotation-test.ts'

export interface ThresholdStatistics {
  readonly rates: Readonly<Record<RateName, GroupStatistic>>
  /** [tp, fp, fn, tn] by group, each run counting once. */
  readonly confusion: readonly Float64Array[]
}

export function thresholdStatistics(query: ThresholdQuery): ThresholdStatistics {
  const { runWeights, pairWeights } = query.test.subsets[query.subset]
  const confusion = confusionByGroup(query, runWeights)
  const byRun = ratesOf(confusion)
  const byPair = ratesOf(confusionByGroup(query, pairWeights))
  const rates = {
    precision: byRun('precision'),
    recall: byRun('recall'),
    f1: byRun('f1'),
    balancedAccuracy: byRun('balancedAccuracy'),
    falsePositiveRate: byRun('falsePositiveRate'),
    selectedShare: byRun('selectedShare'),
    precisionPairWeighted: byPair('precision'),
    recallPairWeighted: byPair('recall'),
    f1PairWeighted: byPair('f1'),
    balancedAccuracyPairWeighted: byPair('balancedAccuracy'),
    falsePositiveRatePairWeighted: byPair('falsePositiveRate'),
    ...delayRates(query),
  }
  return { rates, confusion }
}

function confusionByGroup({ test, scores, tau }: ThresholdQuery, weights: Float64Array): readonly Float64Array[] {
  const sums = Array.from({ length: 4 }, () => new Float64Array(test.groups))
  const [tp, fp, fn, tn] = sums
  for (let row = 0; row < scores.length; row++) {
    const selected = tau !== null && (scores[row] ?? 0) >= tau
    const ready = test.labels[row] === 1
    const sum = selected ? (ready ? tp : fp) : ready ? fn : tn
    const group = test.group[row] ?? 0
    if (sum !== undefined) sum[group] = (sum[group] ?? 0) + (weights[row] ?? 0)
  }
  return sums
}

/** Each rate is a function of the weighted total of the confusion sums. */
function ratesOf(confusion: readonly Float64Array[]): (rate: PooledRateName) => GroupStatistic {
  const totals = new Float64Array(4)
  return (rate) => (multiplicity) => {
    confusion.forEach((sums, k) => {
      let total = 0
      for (let group = 0; group < sums.length; group++) total += (multiplicity[group] ?? 0) * (sums[group] ?? 0)
      totals[k] = total
    })
    return rateOf(rate, totals)
  }
}

/**
 * @param totals [tp, fp, fn, tn]
 * @returns null where the rate has no denominator: precision without a selection, recall and F1 without READY
 */
export function rateOf(rate: PooledRateName, totals: Float64Array): number | null {
  const [tp = 0, fp = 0, fn = 0, tn = 0] = totals
  if (rate === 'precision' && tp + fp === 0) return null
  if ((rate === 'recall' || rate === 'f1') && tp + fn === 0) return null
  return thresholdRates({ tp, fp, fn, tn })[rate]
}

function delayRates(
  query: ThresholdQuery,
): Readonly<Record<'prematureRate' | 'delay' | 'caughtShare', GroupStatistic>> {
  const { test } = query
  const fates = firstSelections(query)
  const called = fates.filter((fate) => fate.first !== null)
  const ready = fates.filter((fate) => fate.becomesReady)
  return {
    prematureRate: meanByGroup(called, (fate) => (isTimely(fate) ? 0 : 1), test),
    delay: meanByGroup(called.filter(isTimely), (fate) => (fate.first ?? 0) - fate.boundary, test),
    caughtShare: meanByGroup(ready, (fate) => (fate.first === null ? 0 : 1), test),
  }
}

function meanByGroup<T extends { readonly group: number }>(
  items: readonly T[],
  value: (item: T) => number,
  test: RotationTest,
): GroupStatistic {
  const group = items.map((item) => item.group)
  return groupedRatio(
    sumByGroup(items.map(value), group, test.groups),
    sumByGroup(new Float64Array(items.length).fill(1), group, test.groups),
  )
}
