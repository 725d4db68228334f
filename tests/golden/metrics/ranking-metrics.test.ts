import { describe, expect, it } from 'vitest'
import { auroc } from '../../../src/metrics/auroc.ts'
import { averagePrecision } from '../../../src/metrics/average-precision.ts'
import { applyIsotonic, fitIsotonic } from '../../../src/metrics/isotonic.ts'
import { distance, FIT_TOLERANCE, GOLDEN, METRIC_TOLERANCE } from './golden-metrics.ts'

describe.each(GOLDEN.cases)('$name', (golden) => {
  it('has the AUROC of scikit-learn', () => {
    expect(distance(auroc(golden.scores, golden.labels), golden.auroc)).toBeLessThanOrEqual(METRIC_TOLERANCE)
  })

  it('has the average precision of scikit-learn', () => {
    const value = averagePrecision(golden.scores, golden.labels)
    expect(distance(value, golden.averagePrecision)).toBeLessThanOrEqual(METRIC_TOLERANCE)
  })
})

describe('isotonic regression', () => {
  it('fits the values of scikit-learn at the training scores', () => {
    const { x, y, fitted } = GOLDEN.isotonic
    const map = fitIsotonic(x, y)
    x.forEach((score, i) => {
      expect(distance(applyIsotonic(map, score), fitted[i] ?? null)).toBeLessThanOrEqual(FIT_TOLERANCE)
    })
  })
})
