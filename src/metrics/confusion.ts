/**
 * What a threshold does: confusion counts and the rates made from them. Pure.
 */
import { requireSameLength } from './ranking.ts'

/** Sums of row weights (counts when every weight is 1). Positive = READY = score >= threshold. */
export interface Confusion {
  readonly tp: number
  readonly fp: number
  readonly fn: number
  readonly tn: number
}

export interface ThresholdRates {
  /** tp / (tp + fp); 0 when nothing is selected, as scikit-learn's zero_division: look at `selectedShare` first. */
  readonly precision: number
  /** tp / (tp + fn); 0 without positives. */
  readonly recall: number
  readonly f1: number
  /** Mean of recall and tn / (tn + fp); null when a class is missing. */
  readonly balancedAccuracy: number | null
  /** fp / (fp + tn): the share of KEEP that would be dropped too early; 0 without negatives. */
  readonly falsePositiveRate: number
  readonly selectedShare: number
}

/** @param threshold a score equal to it is positive; +Infinity selects nothing but scores of +Infinity */
export function confusionAt(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  threshold: number,
  weights?: ArrayLike<number>,
): Confusion {
  requireSameLength('confusionAt', scores.length, { labels: labels.length, weights: weights?.length })
  let tp = 0
  let fp = 0
  let fn = 0
  let tn = 0
  for (let i = 0; i < scores.length; i++) {
    const weight = weights === undefined ? 1 : (weights[i] ?? 0)
    const selected = (scores[i] ?? Number.NaN) >= threshold
    if (labels[i] === 1) {
      if (selected) tp += weight
      else fn += weight
    } else if (selected) fp += weight
    else tn += weight
  }
  return { tp, fp, fn, tn }
}

/** Source of the zero conventions: tests/golden/reference/metrics.json (scikit-learn). */
export function thresholdRates({ tp, fp, fn, tn }: Confusion): ThresholdRates {
  const positives = tp + fn
  const negatives = fp + tn
  const recall = share(tp, positives)
  return {
    precision: share(tp, tp + fp),
    recall,
    f1: share(2 * tp, 2 * tp + fp + fn),
    balancedAccuracy: positives > 0 && negatives > 0 ? (recall + tn / negatives) / 2 : null,
    falsePositiveRate: share(fp, negatives),
    selectedShare: share(tp + fp, positives + negatives),
  }
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0
}
