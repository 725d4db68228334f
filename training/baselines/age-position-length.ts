/**
 * Baseline: logistic regression on age, position and source length, the cheap things that a router must beat together.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { type Baseline, trajectoryWeights } from './baseline.ts'
import { denseMatrix } from './design-matrix.ts'
import { fitLogistic, logisticScores } from './logistic-regression.ts'
import { ageOf, positionOf, sourceTokensOf } from './simple-features.ts'

const FEATURES: readonly ((dataset: Dataset, pair: number) => number)[] = [
  ageOf,
  (dataset, pair) => Math.log(ageOf(dataset, pair)),
  positionOf,
  (dataset, pair) => Math.log1p(sourceTokensOf(dataset, pair)),
]

export const AGE_POSITION_LENGTH: Baseline = {
  name: 'age-position-length-lr',
  description: 'logistic regression on age (linear and log), position and log source length',
  probabilistic: true,
  fit({ dataset, train }) {
    const weights = trajectoryWeights(dataset, train)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const columns = FEATURES.map((read) => {
      const values = Float64Array.from(train, (pair) => read(dataset, pair))
      const mean = values.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0) / total
      const variance = values.reduce((sum, value, at) => sum + (value - mean) ** 2 * (weights[at] ?? 0), 0) / total
      const deviation = Math.sqrt(variance)
      return { read, mean, scale: deviation < 1e-6 ? 1 : 1 / deviation }
    })
    const matrixOf = (rows: Int32Array): ReturnType<typeof denseMatrix> => {
      const data = new Float64Array(rows.length * columns.length)
      rows.forEach((pair, r) => {
        columns.forEach(({ read, mean, scale }, k) => {
          data[r * columns.length + k] = (read(dataset, pair) - mean) * scale
        })
      })
      return denseMatrix(data, rows.length, columns.length)
    }
    const side = (label: 0 | 1): Float64Array =>
      Float64Array.from(train, (pair, at) =>
        dataset.pairs.label[pair] === label ? ((weights[at] ?? 0) * train.length) / total : 0,
      )
    const model = fitLogistic({
      matrix: matrixOf(train),
      positiveWeight: side(1),
      negativeWeight: side(0),
      c: 1,
      tolerance: 1e-7,
    })
    return (rows) => logisticScores(model, matrixOf(rows))
  },
}
