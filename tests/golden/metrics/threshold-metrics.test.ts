import { describe, expect, it } from 'vitest'
import { brierScore, expectedCalibrationError, logLoss } from '../../../src/metrics/calibration.ts'
import { confusionAt, thresholdRates } from '../../../src/metrics/confusion.ts'
import { rocPoints, sweepThresholds } from '../../../src/metrics/curves.ts'
import { distance, GOLDEN, METRIC_TOLERANCE } from './golden-metrics.ts'

describe.each(GOLDEN.cases)('$name', (golden) => {
  const { scores, labels } = golden
  const confusion = confusionAt(scores, labels, golden.threshold)
  const rates = thresholdRates(confusion)

  it('has the confusion counts of scikit-learn', () => {
    expect(confusion).toEqual(golden.confusion)
  })

  it.each([
    ['precision', rates.precision, golden.precision],
    ['recall', rates.recall, golden.recall],
    ['F1', rates.f1, golden.f1],
    ['balanced accuracy', rates.balancedAccuracy, golden.balancedAccuracy],
    ['false positive rate', rates.falsePositiveRate, golden.falsePositiveRate],
    ['Brier score', brierScore(scores, labels), golden.brier],
    ['log loss', logLoss(scores, labels), golden.logLoss],
    ['ECE', expectedCalibrationError(scores, labels), golden.ece10EqualWidth],
  ])('has the %s of scikit-learn', (_name, actual, expected) => {
    expect(distance(actual, expected)).toBeLessThanOrEqual(METRIC_TOLERANCE)
  })

  it('has the ROC points of scikit-learn where the file lists them', () => {
    const expected = golden.rocPoints ?? []
    const actual = rocPoints(sweepThresholds(scores, labels))
    if (golden.rocPoints === null) expect(actual.length).toBeGreaterThan(2)
    else expect(actual).toHaveLength(expected.length)
    expected.forEach(([x, y], i) => {
      expect(distance(actual[i]?.[0] ?? null, x)).toBeLessThanOrEqual(METRIC_TOLERANCE)
      expect(distance(actual[i]?.[1] ?? null, y)).toBeLessThanOrEqual(METRIC_TOLERANCE)
    })
  })
})
