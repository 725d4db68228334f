/**
 * ROC, precision-recall and precision-coverage curves: exact points, and the same on a fixed grid so that curves of
 * several rotations can be averaged instead of pooling their scores. Pure.
 */
import { type Ranking, rankByScore, requireSameLength } from './ranking.ts'

/** State after selecting every row whose score is at least `threshold`. */
export interface SweepPoint {
  readonly threshold: number
  /** Weight of selected positives and negatives. */
  readonly tp: number
  readonly fp: number
}

export interface Sweep {
  /** One point per distinct score, thresholds falling. */
  readonly points: readonly SweepPoint[]
  readonly positives: number
  readonly negatives: number
}

export function sweepThresholds(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
): Sweep {
  requireSameLength('sweepThresholds', scores.length, { labels: labels.length, weights: weights?.length })
  return sweepRanked(rankByScore(scores), scores, labels, weights)
}

/** The same on scores that are ranked already; only the rows that the ranking holds count. */
export function sweepRanked(
  ranking: Ranking,
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
): Sweep {
  const { order, tieEnds } = ranking
  const points: SweepPoint[] = []
  let tp = 0
  let fp = 0
  let position = 0
  for (const end of tieEnds) {
    for (; position < end; position++) {
      const row = order[position] ?? 0
      const weight = weights === undefined ? 1 : (weights[row] ?? 0)
      if (labels[row] === 1) tp += weight
      else fp += weight
    }
    points.push({ threshold: scores[order[end - 1] ?? 0] ?? 0, tp, fp })
  }
  return { points, positives: tp, negatives: fp }
}

/** (false positive rate, true positive rate) from (0, 0) to (1, 1), one point per distinct score; empty for one class. */
export function rocPoints(sweep: Sweep): readonly (readonly [number, number])[] {
  const { points, positives, negatives } = sweep
  if (positives <= 0 || negatives <= 0) return []
  return [[0, 0], ...points.map(({ tp, fp }) => [fp / negatives, tp / positives] as const)]
}

/** (recall, precision), recall rising, one point per distinct score; empty without positives. */
export function precisionRecallPoints(sweep: Sweep): readonly (readonly [number, number])[] {
  const { points, positives } = sweep
  if (positives <= 0) return []
  return points.filter(({ tp, fp }) => tp + fp > 0).map(({ tp, fp }) => [tp / positives, tp / (tp + fp)])
}

/** (coverage, precision): the share of rows that would be READY, and how many of them are; coverage rising. */
export function precisionCoveragePoints(sweep: Sweep): readonly (readonly [number, number])[] {
  const { points, positives, negatives } = sweep
  const total = positives + negatives
  return points.filter(({ tp, fp }) => tp + fp > 0).map(({ tp, fp }) => [(tp + fp) / total, tp / (tp + fp)])
}

/** y at each x of the grid, linear between points and constant outside; a jump counts as reached. Null without points. */
export function interpolateCurve(
  points: readonly (readonly [number, number])[],
  grid: readonly number[],
): readonly number[] | null {
  const first = points[0]
  if (first === undefined) return null
  let next = 0
  return grid.map((x) => {
    while (next < points.length && (points[next]?.[0] ?? 0) <= x) next += 1
    const left = points[next - 1]
    const right = points[next]
    if (left === undefined) return first[1]
    if (right === undefined) return left[1]
    return left[1] + ((x - left[0]) / (right[0] - left[0])) * (right[1] - left[1])
  })
}

/** Precision at each recall of the grid: that of the first threshold which reaches it (no interpolation). */
export function precisionAtRecalls(sweep: Sweep, grid: readonly number[]): readonly number[] | null {
  const points = precisionRecallPoints(sweep)
  if (points.length === 0) return null
  let next = 0
  return grid.map((recall) => {
    while (next < points.length - 1 && (points[next]?.[0] ?? 0) < recall - 1e-12) next += 1
    return points[next]?.[1] ?? 0
  })
}
