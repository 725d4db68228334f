import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { brierScore, expectedCalibrationError, logLoss } from '../../../src/metrics/calibration.ts'
import { confusionAt, thresholdRates } from '../../../src/metrics/confusion.ts'
import { sigmoid } from '../../../src/router/decide.ts'
import { calibrationStatistics } from '../../../training/evaluation/calibration-statistics.ts'
import { pooledEstimate, poolSums } from '../../../training/evaluation/pooled-estimate.ts'
import { createRotationTest } from '../../../training/evaluation/rotation-test.ts'
import { rateOf, thresholdStatistics } from '../../../training/evaluation/threshold-statistics.ts'
import { syntheticDataset } from '../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 12, minLength: 8, maxLength: 12 })
const table = createRotationTest(dataset, {
  rotation: 0,
  testGroups: new Set(dataset.trajectories.map((run) => run.group)),
  resamples: 5,
  seed: 3,
})
const rows = table.rows.length
const { runWeights, pairWeights, mask } = table.subsets.headline
const logits = fc.array(
  fc.integer({ min: -12, max: 12 }).map((n) => n / 4),
  { minLength: rows, maxLength: rows },
)
const multiplicities = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: table.groups, maxLength: table.groups })

/** Each row as heavy as its group was drawn: the long way round. */
const repeated = (weights: Float64Array, times: readonly number[]): Float64Array =>
  weights.map((weight, row) => weight * (times[table.group[row] ?? 0] ?? 0))
const close = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a === b : Math.abs(a - b) <= 1e-9

describe('a resample of an evaluation', () => {
  test.prop([logits, multiplicities, fc.integer({ min: -12, max: 12 })])(
    'has the rates of the rows repeated as often as their group was drawn',
    (scores, times, quarter) => {
      const tau = quarter / 4
      const { rates } = thresholdStatistics({
        test: table,
        pairs: dataset.pairs,
        scores: Float64Array.from(scores),
        tau,
        subset: 'headline',
      })
      const byRun = confusionAt(scores, table.labels, tau, repeated(runWeights, times))
      const byPair = confusionAt(scores, table.labels, tau, repeated(pairWeights, times))
      if (byRun.tp + byRun.fp > 0) expect(close(rates.precision(times), thresholdRates(byRun).precision)).toBe(true)
      else expect(rates.precision(times)).toBeNull()
      expect(close(rates.balancedAccuracy(times), thresholdRates(byRun).balancedAccuracy)).toBe(true)
      expect(close(rates.selectedShare(times), thresholdRates(byRun).selectedShare)).toBe(true)
      if (byPair.tp + byPair.fn > 0) expect(close(rates.f1PairWeighted(times), thresholdRates(byPair).f1)).toBe(true)
    },
  )

  test.prop([logits, multiplicities])('has the calibration of those rows', (scores, times) => {
    const probabilities = Float64Array.from(scores, sigmoid)
    const statistics = calibrationStatistics(table, probabilities, 'headline', 'runWeights')
    const weights = repeated(runWeights, times)
    const of = (metric: typeof brierScore): number | null => metric(probabilities, table.labels, weights)
    expect(close(statistics.brier(times), of(brierScore))).toBe(true)
    expect(close(statistics.logLoss(times), of(logLoss))).toBe(true)
    expect(close(statistics.ece(times), of(expectedCalibrationError))).toBe(true)
  })

  test.prop([logits])('of two rotations together is that of their rows together', (scores) => {
    const { confusion } = thresholdStatistics({
      test: table,
      pairs: dataset.pairs,
      scores: Float64Array.from(scores),
      tau: 0,
      subset: 'headline',
    })
    const opposite = scores.map((score) => -score)
    const { confusion: other } = thresholdStatistics({
      test: table,
      pairs: dataset.pairs,
      scores: Float64Array.from(opposite),
      tau: 0,
      subset: 'headline',
    })
    const totals = poolSums(
      [confusion, other].map((columns) => ({ test: table, readyGroups: 12, columns })),
      { interval: true },
    )
    const together = thresholdRates(
      confusionAt([...scores, ...opposite], [...table.labels, ...table.labels], 0, [...runWeights, ...runWeights]),
    )
    expect(close(pooledEstimate(totals, (sums) => rateOf('recall', sums)).value, together.recall)).toBe(true)
    expect(mask.some((inside) => inside === 0)).toBe(true)
  })
})
