/**
 * Area under the ROC curve. Pure.
 */
import { type Ranking, rankByScore, requireSameLength } from './ranking.ts'

/**
 * Probability that a random READY row scores above a random KEEP row, ties counting half (Mann-Whitney U / (P N)).
 *   scores   (n)
 *   labels   (n) 1 = positive, 0 = negative
 *   weights  (n) >= 0, default 1; an integer weight equals repeating the row
 *   returns  null when one class has no weight: there is nothing to rank
 * Source: DESIGN section 13; equals scikit-learn's roc_auc_score to 1e-12 (tests/golden/reference/metrics.json).
 */
export function auroc(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
): number | null {
  requireSameLength('auroc', scores.length, { labels: labels.length, weights: weights?.length })
  return rankedAuroc(rankByScore(scores), labels, weights)
}

/** The same on scores that are ranked already: one pass, for bootstraps. */
export function rankedAuroc(ranking: Ranking, labels: ArrayLike<number>, weights?: ArrayLike<number>): number | null {
  const { order, tieEnds } = ranking
  let positives = 0
  let negatives = 0
  let wins = 0
  let position = 0
  for (const end of tieEnds) {
    let tiePositives = 0
    let tieNegatives = 0
    for (; position < end; position++) {
      const row = order[position] ?? 0
      const weight = weights === undefined ? 1 : (weights[row] ?? 0)
      if (labels[row] === 1) tiePositives += weight
      else tieNegatives += weight
    }
    wins += tieNegatives * (positives + tiePositives / 2)
    positives += tiePositives
    negatives += tieNegatives
  }
  return positives > 0 && negatives > 0 ? wins / (positives * negatives) : null
}
