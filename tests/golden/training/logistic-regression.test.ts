import { describe, expect, it } from 'vitest'
import { denseMatrix, sparseMatrix } from '../../../training/baselines/design-matrix.ts'
import { fitLogistic } from '../../../training/baselines/logistic-regression.ts'
import { distance, FIT_TOLERANCE, GOLDEN } from '../metrics/golden-metrics.ts'

const { X, y, C, coef, intercept } = GOLDEN.logisticRegression
const cols = coef.length
const positiveWeight = Float64Array.from(y)
const negativeWeight = Float64Array.from(y, (label) => 1 - label)
const dense = denseMatrix(Float64Array.from(X.flat()), X.length, cols)
const sparse = sparseMatrix({
  starts: Uint32Array.from({ length: X.length + 1 }, (_, r) => r * cols),
  columns: Uint32Array.from(X.flatMap(() => [2, 0, 1])),
  values: Float64Array.from(X.flatMap(([a = 0, b = 0, c = 0]) => [c, a, b])),
  cols,
})

describe.each([
  ['dense', dense],
  ['sparse', sparse],
] as const)('logistic regression on %s rows', (_name, matrix) => {
  const model = fitLogistic({ matrix, positiveWeight, negativeWeight, c: C })

  it('finds the coefficients and the intercept of scikit-learn', () => {
    coef.forEach((expected, k) => {
      expect(distance(model.weights[k] ?? null, expected)).toBeLessThanOrEqual(FIT_TOLERANCE)
    })
    expect(distance(model.intercept, intercept)).toBeLessThanOrEqual(FIT_TOLERANCE)
  })

  it('finds them from any start', () => {
    const again = fitLogistic({
      matrix,
      positiveWeight,
      negativeWeight,
      c: C,
      start: { weights: Float64Array.of(5, -3, 8), intercept: 4 },
    })
    expect(distance(again.weights[1] ?? null, coef[1] ?? null)).toBeLessThanOrEqual(FIT_TOLERANCE)
  })
})

describe('rows with a weight for each class', () => {
  it('equal rows written out one by one', () => {
    const merged = fitLogistic({
      matrix: denseMatrix(Float64Array.of(1, 0, 0, 1), 2, 2),
      positiveWeight: Float64Array.of(3, 1),
      negativeWeight: Float64Array.of(1, 2),
      c: 2,
    })
    const rows = [1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1]
    const single = fitLogistic({
      matrix: denseMatrix(Float64Array.from(rows), 7, 2),
      positiveWeight: Float64Array.of(1, 1, 1, 0, 1, 0, 0),
      negativeWeight: Float64Array.of(0, 0, 0, 1, 0, 1, 1),
      c: 2,
    })
    expect(merged.weights[0]).toBeCloseTo(single.weights[0] ?? 0, 7)
    expect(merged.intercept).toBeCloseTo(single.intercept, 7)
  })
})
