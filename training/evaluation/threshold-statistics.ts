/**
 * What one threshold does in one rotation, as functions of group multiplicities: rates over pairs, and when each
 * interaction is first called READY beside the boundary where it becomes so.
 */
import type { PairTable } from '../../data/store/dataset.ts'
import type { GroupStatistic } from '../../src/metrics/bootstrap.ts'
import { thresholdRates } from '../../src/metrics/confusion.ts'
import { groupedRatio, sumByGroup } from '../../src/metrics/group-statistics.ts'
import type { RateName, SubsetName } from './evaluation-record.ts'
import type { RotationTest } from './rotation-test.ts'

export interface ThresholdQuery {
  readonly test: RotationTest
  readonly pairs: PairTable
  /** (rows) */
  readonly scores: Float64Array
  /** null selects nothing. */
  readonly tau: number | null
  readonly subset: SubsetName
}

export function thresholdStatistics(query: ThresholdQuery): Readonly<Record<RateName, GroupStatistic>> {
  const { runWeights, pairWeights } = query.test.subsets[query.subset]
  const byRun = ratesOf(query, runWeights)
  const byPair = ratesOf(query, pairWeights)
  return {
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
    ...firstSelections(query),
  }
}

type PairRate = 'precision' | 'recall' | 'f1' | 'balancedAccuracy' | 'falsePositiveRate' | 'selectedShare'

/** Confusion sums per group, once; then each rate is a function of their weighted total. */
function ratesOf({ test, scores, tau }: ThresholdQuery, weights: Float64Array): (rate: PairRate) => GroupStatistic {
  const sums = { tp: empty(test), fp: empty(test), fn: empty(test), tn: empty(test) }
  for (let row = 0; row < scores.length; row++) {
    const selected = tau !== null && (scores[row] ?? 0) >= tau
    const ready = test.labels[row] === 1
    const sum = selected ? (ready ? sums.tp : sums.fp) : ready ? sums.fn : sums.tn
    const group = test.group[row] ?? 0
    sum[group] = (sum[group] ?? 0) + (weights[row] ?? 0)
  }
  return (rate) => (multiplicity) => {
    let tp = 0
    let fp = 0
    let fn = 0
    let tn = 0
    for (let group = 0; group < test.groups; group++) {
      const times = multiplicity[group] ?? 0
      tp += times * (sums.tp[group] ?? 0)
      fp += times * (sums.fp[group] ?? 0)
      fn += times * (sums.fn[group] ?? 0)
      tn += times * (sums.tn[group] ?? 0)
    }
    if (rate === 'precision' && tp + fp === 0) return null
    if ((rate === 'recall' || rate === 'f1') && tp + fn === 0) return null
    return thresholdRates({ tp, fp, fn, tn })[rate]
  }
}

function firstSelections({
  test,
  pairs,
  scores,
  tau,
  subset,
}: ThresholdQuery): Readonly<Record<'prematureRate' | 'delay' | 'caughtShare', GroupStatistic>> {
  const { mask } = test.subsets[subset]
  interface Fate {
    readonly group: number
    /** -1: never READY. */
    readonly boundary: number
    first: number | null
    /** Its boundary is among the checkpoints that the sub-set shows. */
    becomesReady: boolean
  }
  const fates = new Map<string, Fate>()
  for (let row = 0; row < scores.length; row++) {
    if (mask[row] === 0) continue
    const pair = test.rows[row] ?? 0
    const key = `${test.run[row]}/${pairs.interaction[pair]}`
    const fate = fates.get(key) ?? {
      group: test.group[row] ?? 0,
      boundary: pairs.boundary[pair] ?? -1,
      first: null,
      becomesReady: false,
    }
    fates.set(key, fate)
    const checkpoint = pairs.checkpoint[pair] ?? 0
    if (test.labels[row] === 1) fate.becomesReady = true
    if (tau !== null && (scores[row] ?? 0) >= tau && (fate.first === null || checkpoint < fate.first))
      fate.first = checkpoint
  }
  const all = [...fates.values()]
  const selected = all.filter((fate) => fate.first !== null)
  const timely = (fate: Fate): boolean => fate.boundary !== -1 && (fate.first ?? 0) >= fate.boundary
  const ready = all.filter((fate) => fate.becomesReady)
  return {
    prematureRate: meanByGroup(selected, (fate) => (timely(fate) ? 0 : 1), test),
    delay: meanByGroup(selected.filter(timely), (fate) => (fate.first ?? 0) - fate.boundary, test),
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

function empty(test: RotationTest): Float64Array {
  return new Float64Array(test.groups)
}
