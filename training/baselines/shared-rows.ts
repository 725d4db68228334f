/**
 * Logistic baselines whose features depend on a key only (the interaction's document, a vector row): pairs with one key
 * share one row, and the penalty is chosen on validation groups. Pure.
 */
import { withinTrajectoryAuroc } from '../../src/metrics/within-trajectory.ts'
import { type BaselineContext, type PairScorer, trajectoryWeights } from './baseline.ts'
import type { DesignMatrix } from './design-matrix.ts'
import { fitLogistic, type LogisticModel, logisticScores } from './logistic-regression.ts'

/** Weak to strong enough for thousands of columns; the total weight of the rows is scaled to their number. */
const C_GRID = [0.01, 0.1, 1] as const
/** Coarse on purpose: these are baselines, and early stopping only regularises them. */
const TOLERANCE = 1e-4
const MAX_ITERATIONS = 60
/** Keys whose rows are in memory together: with a vector for each pair, a test part would take gigabytes. */
const SCORED_AT_ONCE = 2048

export interface SharedRowFeatures {
  /** Key of a pair; pairs with equal keys have equal features. */
  readonly keyOf: (pair: number) => number
  readonly matrixOf: (keys: readonly number[]) => DesignMatrix
  /** What the weights of all rows sum to beside the penalty; default: the number of rows. */
  readonly totalWeight?: number
}

export function fitSharedRows(context: BaselineContext, features: SharedRowFeatures): PairScorer {
  const { dataset, train, validation } = context
  const weights = trajectoryWeights(dataset, train)
  const rowOfKey = new Map<number, number>()
  for (const pair of train) {
    const key = features.keyOf(pair)
    if (!rowOfKey.has(key)) rowOfKey.set(key, rowOfKey.size)
  }
  const positiveWeight = new Float64Array(rowOfKey.size)
  const negativeWeight = new Float64Array(rowOfKey.size)
  const scale = (features.totalWeight ?? rowOfKey.size) / weights.reduce((sum, weight) => sum + weight, 0)
  train.forEach((pair, at) => {
    const row = rowOfKey.get(features.keyOf(pair)) ?? 0
    const side = dataset.pairs.label[pair] === 1 ? positiveWeight : negativeWeight
    side[row] = (side[row] ?? 0) + scale * (weights[at] ?? 0)
  })
  const matrix = features.matrixOf([...rowOfKey.keys()])
  const validationLabels = Array.from(validation, (pair) => dataset.pairs.label[pair] ?? 0)
  const validationRuns = Array.from(validation, (pair) => dataset.pairs.trajectory[pair] ?? 0)
  let best: { readonly model: LogisticModel; readonly quality: number } | null = null
  let previous: LogisticModel | undefined
  for (const c of C_GRID) {
    const model = fitLogistic({
      matrix,
      positiveWeight,
      negativeWeight,
      c,
      tolerance: TOLERANCE,
      maxIterations: MAX_ITERATIONS,
      ...(previous === undefined ? {} : { start: previous }),
    })
    const scores = scorePairs(model, features, validation)
    const quality = withinTrajectoryAuroc(scores, validationLabels, validationRuns) ?? 0.5
    if (best === null || quality > best.quality) best = { model, quality }
    previous = model
  }
  const chosen = best?.model
  return (rows) => (chosen === undefined ? new Float64Array(rows.length) : scorePairs(chosen, features, rows))
}

function scorePairs(model: LogisticModel, features: SharedRowFeatures, rows: Int32Array): Float64Array {
  const keys = [...new Set(Array.from(rows, features.keyOf))]
  const scoreOf = new Map<number, number>()
  for (let start = 0; start < keys.length; start += SCORED_AT_ONCE) {
    const some = keys.slice(start, start + SCORED_AT_ONCE)
    const scores = logisticScores(model, features.matrixOf(some))
    some.forEach((key, at) => {
      scoreOf.set(key, scores[at] ?? 0)
    })
  }
  return Float64Array.from(rows, (pair) => scoreOf.get(features.keyOf(pair)) ?? 0)
}
