/**
 * Calibration of probabilities in one rotation, as functions of group multiplicities.
 */
import type { GroupStatistic } from '../../src/metrics/bootstrap.ts'
import { type ReliabilityBin, reliabilityBins } from '../../src/metrics/calibration.ts'
import { groupedRatio, sumByGroup } from '../../src/metrics/group-statistics.ts'
import type { SubsetName } from './evaluation-record.ts'
import type { RotationTest } from './rotation-test.ts'

export const CALIBRATION_BINS = 10

export interface CalibrationStatistics {
  readonly ece: GroupStatistic
  readonly brier: GroupStatistic
  readonly logLoss: GroupStatistic
  readonly bins: readonly ReliabilityBin[]
}

export function calibrationStatistics(
  test: RotationTest,
  scores: Float64Array,
  subset: SubsetName,
  weighting: 'runWeights' | 'pairWeights',
): CalibrationStatistics {
  const weights = test.subsets[subset][weighting]
  const weightSums = sumByGroup(weights, test.group, test.groups)
  const mean = (loss: (score: number, label: number) => number): GroupStatistic =>
    groupedRatio(
      sumByGroup(
        scores.map((score, row) => (weights[row] ?? 0) * loss(score, test.labels[row] ?? 0)),
        test.group,
        test.groups,
      ),
      weightSums,
    )
  return {
    ece: eceStatistic(test, scores, weights),
    brier: mean((score, label) => (score - label) ** 2),
    logLoss: mean((score, label) => -Math.log(Math.max(Number.EPSILON, label === 1 ? score : 1 - score))),
    bins: reliabilityBins(scores, test.labels, weights, CALIBRATION_BINS),
  }
}

/** Signed gap (score - label) per bin and group: ECE is the sum over bins of |total gap| / total weight. */
function eceStatistic(test: RotationTest, scores: Float64Array, weights: Float64Array): GroupStatistic {
  const gaps = new Float64Array(CALIBRATION_BINS * test.groups)
  const weightSums = sumByGroup(weights, test.group, test.groups)
  for (let row = 0; row < scores.length; row++) {
    const score = scores[row] ?? 0
    const bin = Math.min(CALIBRATION_BINS - 1, Math.max(0, Math.floor(score * CALIBRATION_BINS)))
    const at = bin * test.groups + (test.group[row] ?? 0)
    gaps[at] = (gaps[at] ?? 0) + (weights[row] ?? 0) * (score - (test.labels[row] ?? 0))
  }
  return (multiplicity) => {
    let total = 0
    for (let group = 0; group < test.groups; group++) total += (multiplicity[group] ?? 0) * (weightSums[group] ?? 0)
    if (total === 0) return null
    let error = 0
    for (let bin = 0; bin < CALIBRATION_BINS; bin++) {
      let gap = 0
      for (let group = 0; group < test.groups; group++)
        gap += (multiplicity[group] ?? 0) * (gaps[bin * test.groups + group] ?? 0)
      error += Math.abs(gap)
    }
    return error / total
  }
}

/** Mean over rotations of bins with the same bounds, each rotation counting once. */
export function meanBins(rotations: readonly (readonly ReliabilityBin[])[]): readonly ReliabilityBin[] {
  const first = rotations[0] ?? []
  return first.map(({ low, high }, at) => {
    const bins = rotations.map((bins) => bins[at]).filter((bin) => bin !== undefined)
    const share = bins.reduce((sum, bin) => sum + bin.share, 0)
    const mean = (value: (bin: ReliabilityBin) => number | null): number | null =>
      share === 0 ? null : bins.reduce((sum, bin) => sum + bin.share * (value(bin) ?? 0), 0) / share
    return {
      low,
      high,
      share: share / rotations.length,
      meanScore: mean((bin) => bin.meanScore),
      meanLabel: mean((bin) => bin.meanLabel),
    }
  })
}
