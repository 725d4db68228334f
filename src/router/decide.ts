/**
 * From a logit to a decision at an operating point. Pure.
 */

/** READY at logits of at least `tauLogit`; null = no threshold exists, READY is never predicted. */
export interface Threshold {
  readonly tauLogit: number | null
}

export interface Decision {
  /** sigmoid(logit), uncalibrated. */
  readonly p: number
  /** |logit - logit(tau)|: how far from the other decision; null where no threshold exists. */
  readonly margin: number | null
  readonly ready: boolean
}

/** Source: paper 4.1 and DESIGN section 8. Compared as logits: p near 1 has too few bits. */
export function decide(logit: number, threshold: Threshold): Decision {
  const { tauLogit } = threshold
  return {
    p: sigmoid(logit),
    margin: tauLogit === null ? null : Math.abs(logit - tauLogit),
    ready: tauLogit !== null && logit >= tauLogit,
  }
}

export function sigmoid(logit: number): number {
  return logit >= 0 ? 1 / (1 + Math.exp(-logit)) : Math.exp(logit) / (1 + Math.exp(logit))
}

/** log(p / (1 - p)); p in (0, 1). */
export function logitOf(p: number): number {
  return Math.log(p / (1 - p))
}
