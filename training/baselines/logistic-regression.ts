/**
 * L2-penalised logistic regression on rows that carry a weight for each class, so that pairs which share a feature row
 * (the same interaction at many checkpoints) cost one row. Pure.
 */
import type { DesignMatrix } from './design-matrix.ts'
import { minimise } from './minimise.ts'

export interface LogisticProblem {
  readonly matrix: DesignMatrix
  /** (rows) weight of READY and of KEEP pairs that share this feature row. */
  readonly positiveWeight: Float64Array
  readonly negativeWeight: Float64Array
  /** Inverse penalty. */
  readonly c: number
  /** On max |gradient| relative to the start; default 1e-9. */
  readonly tolerance?: number
  /** Default 500. */
  readonly maxIterations?: number
  /** Start from another solution of the same width (a path over c). */
  readonly start?: LogisticModel
}

export interface LogisticModel {
  /** (cols) */
  readonly weights: Float64Array
  readonly intercept: number
}

/**
 * Minimises 0.5 |w|^2 + c * sum of weighted log losses; the intercept is not penalised.
 * Source of the objective: scikit-learn's LogisticRegression (tests/golden/reference/metrics.json, to 1e-6).
 */
export function fitLogistic(problem: LogisticProblem): LogisticModel {
  const { matrix, positiveWeight, negativeWeight, c } = problem
  const { rows, cols } = matrix
  const logits = new Float64Array(rows)
  const residual = new Float64Array(rows)
  const start = new Float64Array(cols + 1)
  if (problem.start === undefined) start[cols] = priorLogit(positiveWeight, negativeWeight)
  else {
    start.set(problem.start.weights)
    start[cols] = problem.start.intercept
  }
  const minimum = minimise(
    (point, gradient) => {
      const intercept = point[cols] ?? 0
      matrix.multiply(point, intercept, logits)
      let loss = 0
      let interceptGradient = 0
      for (let r = 0; r < rows; r++) {
        const logit = logits[r] ?? 0
        const positive = positiveWeight[r] ?? 0
        const negative = negativeWeight[r] ?? 0
        loss += positive * softplus(-logit) + negative * softplus(logit)
        const slope = c * ((positive + negative) * sigmoid(logit) - positive)
        residual[r] = slope
        interceptGradient += slope
      }
      gradient.fill(0)
      matrix.addTransposed(residual, gradient)
      let penalty = 0
      for (let col = 0; col < cols; col++) {
        const weight = point[col] ?? 0
        penalty += weight * weight
        gradient[col] = (gradient[col] ?? 0) + weight
      }
      gradient[cols] = interceptGradient
      return penalty / 2 + c * loss
    },
    start,
    { tolerance: problem.tolerance ?? 1e-9, maxIterations: problem.maxIterations ?? 500 },
  )
  return { weights: minimum.point.slice(0, cols), intercept: minimum.point[cols] ?? 0 }
}

/** (rows) probabilities of READY. */
export function logisticScores(model: LogisticModel, matrix: DesignMatrix): Float64Array {
  const out = new Float64Array(matrix.rows)
  matrix.multiply(model.weights, model.intercept, out)
  return out.map(sigmoid)
}

function priorLogit(positiveWeight: Float64Array, negativeWeight: Float64Array): number {
  const positive = positiveWeight.reduce((sum, weight) => sum + weight, 0)
  const negative = negativeWeight.reduce((sum, weight) => sum + weight, 0)
  return positive > 0 && negative > 0 ? Math.log(positive / negative) : 0
}

function sigmoid(logit: number): number {
  return logit >= 0 ? 1 / (1 + Math.exp(-logit)) : Math.exp(logit) / (1 + Math.exp(logit))
}

/** log(1 + e^x) without overflow. */
function softplus(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)))
}
