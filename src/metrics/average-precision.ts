/**
 * Area under the precision-recall curve as average precision. Pure.
 */
import { type Ranking, rankByScore, requireSameLength } from './ranking.ts'

/**
 * Sum over distinct thresholds of (R_n - R_{n-1}) P_n, no interpolation; a random score reaches the prevalence.
 *   scores   (n)
 *   labels   (n) 1 = positive, 0 = negative
 *   weights  (n) >= 0, default 1
 *   returns  null when no positive has weight; 1 when all rows are positive
 * Source: DESIGN section 13 (PR-AUC); equals scikit-learn's average_precision_score to 1e-12.
 */
export function averagePrecision(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
): number | null {
  requireSameLength('averagePrecision', scores.length, { labels: labels.length, weights: weights?.length })
  return rankedAveragePrecision(rankByScore(scores), labels, weights)
}

/** The same on scores that are ranked already: one pass, for bootstraps. */
export function rankedAveragePrecision(
  ranking: Ranking,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
): number | null {
  const { order, tieEnds } = ranking
  let truePositives = 0
  let selected = 0
  let area = 0
  let position = 0
  for (const end of tieEnds) {
    let tiePositives = 0
    for (; position < end; position++) {
      const row = order[position] ?? 0
      const weight = weights === undefined ? 1 : (weights[row] ?? 0)
      selected += weight
      if (labels[row] === 1) tiePositives += weight
    }
    truePositives += tiePositives
    if (selected > 0) area += tiePositives * (truePositives / selected)
  }
  return truePositives > 0 ? area / truePositives : null
}
