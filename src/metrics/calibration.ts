/**
 * How well scores are probabilities: Brier score, log loss, expected calibration error, reliability bins. Pure.
 */
import { requireSameLength } from './ranking.ts'

/** Scores are clipped to [eps, 1 - eps] before the logarithm: eps of float64, as scikit-learn does. */
const LOG_CLIP = Number.EPSILON

export interface ReliabilityBin {
  /** [low, high), the last one closed. */
  readonly low: number
  readonly high: number
  /** Share of the whole weight; 0 for an empty bin. */
  readonly share: number
  /** Mean score and share of READY in the bin; null when it is empty. */
  readonly meanScore: number | null
  readonly meanLabel: number | null
}

/** Weighted mean of (score - label)^2; null without weight. */
export function brierScore(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
): number | null {
  return weightedMean(scores, labels, weights, (score, label) => (score - label) ** 2)
}

/** Weighted mean of -log p(label), in nats; null without weight. */
export function logLoss(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
): number | null {
  return weightedMean(scores, labels, weights, (score, label) => {
    const clipped = Math.min(1 - LOG_CLIP, Math.max(LOG_CLIP, score))
    return -Math.log(label === 1 ? clipped : 1 - clipped)
  })
}

/**
 * Sum over bins of share * |mean score - mean label|; null without weight.
 * @param bins number of equal-width bins on [0, 1] (default 10)
 */
export function expectedCalibrationError(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
  bins = 10,
): number | null {
  let error = 0
  let total = 0
  for (const bin of reliabilityBins(scores, labels, weights, bins)) {
    total += bin.share
    if (bin.meanScore !== null && bin.meanLabel !== null) error += bin.share * Math.abs(bin.meanScore - bin.meanLabel)
  }
  return total > 0 ? error : null
}

/** Equal-width bins on [0, 1]; scores outside are clipped into the first and last bin. */
export function reliabilityBins(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights?: ArrayLike<number>,
  bins = 10,
): readonly ReliabilityBin[] {
  requireSameLength('reliabilityBins', scores.length, { labels: labels.length, weights: weights?.length })
  const weightSum = new Float64Array(bins)
  const scoreSum = new Float64Array(bins)
  const labelSum = new Float64Array(bins)
  let total = 0
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] ?? 0
    const weight = weights === undefined ? 1 : (weights[i] ?? 0)
    const bin = Math.min(bins - 1, Math.max(0, Math.floor(score * bins)))
    weightSum[bin] = (weightSum[bin] ?? 0) + weight
    scoreSum[bin] = (scoreSum[bin] ?? 0) + weight * score
    labelSum[bin] = (labelSum[bin] ?? 0) + weight * (labels[i] ?? 0)
    total += weight
  }
  return Array.from({ length: bins }, (_, bin) => {
    const weight = weightSum[bin] ?? 0
    return {
      low: bin / bins,
      high: (bin + 1) / bins,
      share: total > 0 ? weight / total : 0,
      meanScore: weight > 0 ? (scoreSum[bin] ?? 0) / weight : null,
      meanLabel: weight > 0 ? (labelSum[bin] ?? 0) / weight : null,
    }
  })
}

function weightedMean(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
  loss: (score: number, label: number) => number,
): number | null {
  requireSameLength('calibration', scores.length, { labels: labels.length, weights: weights?.length })
  let sum = 0
  let total = 0
  for (let i = 0; i < scores.length; i++) {
    const weight = weights === undefined ? 1 : (weights[i] ?? 0)
    sum += weight * loss(scores[i] ?? 0, labels[i] ?? 0)
    total += weight
  }
  return total > 0 ? sum / total : null
}
