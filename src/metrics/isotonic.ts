/**
 * Isotonic regression: the calibration map from score to probability. Pure.
 */
import { AppError } from '../errors.ts'
import { rankByScore, requireSameLength } from './ranking.ts'

/** A non-decreasing, piecewise linear map. Both arrays have the same length >= 1; `scores` rises strictly. */
export interface IsotonicMap {
  readonly scores: readonly number[]
  readonly values: readonly number[]
}

interface Block {
  firstScore: number
  lastScore: number
  sum: number
  weight: number
}

/**
 * Least-squares non-decreasing fit by pooling adjacent violators; rows of equal score are pooled first.
 *   scores   (n), n >= 1
 *   labels   (n) targets, usually 0 or 1
 *   weights  (n) >= 0, default 1; rows without weight do not count
 *   returns  for each pool its first and last score with the pool's mean
 * Source: Barlow et al. 1972 (pool adjacent violators); equals scikit-learn's IsotonicRegression to 1e-6.
 * @throws AppError training-data-insufficient when no row has weight
 */
export function fitIsotonic(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
): IsotonicMap {
  requireSameLength('fitIsotonic', scores.length, { labels: labels.length, weights: weights?.length })
  const { order } = rankByScore(scores)
  const blocks: Block[] = []
  for (let position = order.length - 1; position >= 0; position--) {
    const row = order[position] ?? 0
    const weight = weights === undefined ? 1 : (weights[row] ?? 0)
    if (weight <= 0) continue
    const score = scores[row] ?? 0
    const previous = blocks.at(-1)
    if (previous !== undefined && previous.lastScore === score && previous.firstScore === score) {
      previous.sum += weight * (labels[row] ?? 0)
      previous.weight += weight
    } else blocks.push({ firstScore: score, lastScore: score, sum: weight * (labels[row] ?? 0), weight })
  }
  if (blocks.length === 0)
    throw new AppError(
      'training-data-insufficient',
      'isotonic fit: none of the 0 usable rows has weight; calibrate on more groups',
    )
  const pooled = poolViolators(blocks)
  const map: { scores: number[]; values: number[] } = { scores: [], values: [] }
  for (const block of pooled) {
    const value = block.sum / block.weight
    map.scores.push(block.firstScore)
    map.values.push(value)
    if (block.lastScore > block.firstScore) {
      map.scores.push(block.lastScore)
      map.values.push(value)
    }
  }
  return map
}

/** Merges neighbours until the means rise strictly. */
function poolViolators(blocks: readonly Block[]): readonly Block[] {
  const stack: Block[] = []
  for (const block of blocks) {
    let current = { ...block }
    for (
      let below = stack.at(-1);
      below !== undefined && below.sum / below.weight >= current.sum / current.weight;
      below = stack.at(-1)
    ) {
      stack.pop()
      current = {
        firstScore: below.firstScore,
        lastScore: current.lastScore,
        sum: below.sum + current.sum,
        weight: below.weight + current.weight,
      }
    }
    stack.push(current)
  }
  return stack
}

/** The map at one score: linear between its points, constant outside them. */
export function applyIsotonic(map: IsotonicMap, score: number): number {
  const { scores, values } = map
  let low = 0
  let high = scores.length - 1
  if (score <= (scores[0] ?? 0)) return values[0] ?? 0
  if (score >= (scores[high] ?? 0)) return values[high] ?? 0
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((scores[middle] ?? 0) <= score) low = middle
    else high = middle
  }
  const left = scores[low] ?? 0
  const right = scores[high] ?? 0
  const share = (score - left) / (right - left)
  return (values[low] ?? 0) + share * ((values[high] ?? 0) - (values[low] ?? 0))
}
