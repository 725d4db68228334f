/**
 * Agreement of two annotators beyond chance. Pure.
 */

/** Counts of pairs (i, c) by what annotator A and annotator B say; each at least 0. */
export interface AgreementTable {
  readonly bothReady: number
  /** READY for A, KEEP for B. */
  readonly onlyA: number
  /** READY for B, KEEP for A. */
  readonly onlyB: number
  readonly bothKeep: number
}

/**
 * Cohen's kappa, (po - pe) / (1 - pe): 1 = the same on every pair, 0 = as chance with the same margins, below 0 = worse.
 *   po  share of pairs on which both say the same
 *   pe  share expected if the two labelled independently with the prevalences they have
 *   returns  in [-1, 1]; null where it is undefined: no pair, or both say one and the same class throughout (pe = 1)
 * Symmetric in A and B, and in READY and KEEP. Source: Cohen, A Coefficient of Agreement for Nominal Scales (1960).
 */
export function cohenKappa(table: AgreementTable): number | null {
  const { bothReady, onlyA, onlyB, bothKeep } = table
  // Two by two, kappa is 2 (ad - bc) / (a's READY x b's KEEP + a's KEEP x b's READY): no difference of near-equal shares.
  const disagreement = (bothReady + onlyA) * (onlyA + bothKeep) + (onlyB + bothKeep) * (bothReady + onlyB)
  if (disagreement === 0) return null
  return (2 * (bothReady * bothKeep - onlyA * onlyB)) / disagreement
}
