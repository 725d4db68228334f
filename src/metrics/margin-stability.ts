/**
 * How far decisions stand from the threshold, and what becomes of them when scores move (paper B.3, C.2). Pure.
 */
import { quantile } from './bootstrap.ts'
import { requireSameLength } from './ranking.ts'

export const STABILITY_LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1] as const
/** Bins of equal size by margin. */
const MARGIN_BINS = 10

/** How decisions move from scores A to scores B of the same pairs. */
export interface MarginStability {
  readonly pairs: number
  /** Share of decisions on the same side in A and B, of those READY in A, and of those KEEP in A; null without any. */
  readonly kept: number | null
  readonly readyKept: number | null
  readonly keepKept: number | null
  /** Quantiles of |distance to the threshold in B - in A|, in logits; empty without pairs. */
  readonly shiftQuantiles: readonly { readonly level: number; readonly shift: number }[]
  /** Pearson correlation of the logits; null without variance. */
  readonly correlation: number | null
  /** Up to 10 bins of equal size by |margin in A|, lowest first, with the mean margin: how far from tau a decision is safe. */
  readonly byMargin: readonly { readonly margin: number; readonly pairs: number; readonly kept: number }[]
}

/**
 *   logitsA, logitsB  (n) of the same pairs; READY = logit >= tau
 *   tau               logit; one for both, or each model's own. Infinity: never READY
 */
export function marginStability(
  logitsA: ArrayLike<number>,
  logitsB: ArrayLike<number>,
  tau: number | { readonly a: number; readonly b: number },
): MarginStability {
  requireSameLength('marginStability', logitsA.length, { 'logits of B': logitsB.length })
  const { a: tauA, b: tauB } = typeof tau === 'number' ? { a: tau, b: tau } : tau
  return stabilityOf(
    Float64Array.from(logitsA, (logit) => logit - tauA),
    Float64Array.from(logitsB, (logit) => logit - tauB),
  )
}

/** The same from signed distances to the threshold, so that pairs with different thresholds stand together. */
export function stabilityOf(a: Float64Array, b: Float64Array): MarginStability {
  const n = a.length
  const kept = { ready: 0, keep: 0 }
  let ready = 0
  for (let i = 0; i < n; i++) {
    const before = (a[i] ?? 0) >= 0
    if (before) ready += 1
    if (before === (b[i] ?? 0) >= 0) kept[before ? 'ready' : 'keep'] += 1
  }
  const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
  const shifts = Float64Array.from(a, (value, i) => Math.abs((b[i] ?? 0) - value))
    .filter(Number.isFinite)
    .sort()
  return {
    pairs: n,
    kept: share(kept.ready + kept.keep, n),
    readyKept: share(kept.ready, ready),
    keepKept: share(kept.keep, n - ready),
    shiftQuantiles:
      shifts.length === 0 ? [] : STABILITY_LEVELS.map((level) => ({ level, shift: quantile(shifts, level) })),
    correlation: pearson(a, b),
    byMargin: byMargin(a, b),
  }
}

function byMargin(a: Float64Array, b: Float64Array): MarginStability['byMargin'] {
  const order = Array.from(a.keys())
    .filter((i) => Number.isFinite(a[i]))
    .sort((i, j) => Math.abs(a[i] ?? 0) - Math.abs(a[j] ?? 0))
  const bins = Math.min(MARGIN_BINS, order.length)
  return Array.from({ length: bins }, (_, bin) => {
    const rows = order.slice(Math.floor((bin * order.length) / bins), Math.floor(((bin + 1) * order.length) / bins))
    const kept = rows.filter((i) => (a[i] ?? 0) >= 0 === (b[i] ?? 0) >= 0).length
    return {
      margin: rows.reduce((sum, i) => sum + Math.abs(a[i] ?? 0), 0) / rows.length,
      pairs: rows.length,
      kept: kept / rows.length,
    }
  })
}

function pearson(a: Float64Array, b: Float64Array): number | null {
  const n = a.length
  if (n === 0 || !a.every(Number.isFinite) || !b.every(Number.isFinite)) return null
  const meanA = a.reduce((sum, value) => sum + value, 0) / n
  const meanB = b.reduce((sum, value) => sum + value, 0) / n
  let ab = 0
  let aa = 0
  let bb = 0
  for (let i = 0; i < n; i++) {
    const x = (a[i] ?? 0) - meanA
    const y = (b[i] ?? 0) - meanB
    ab += x * y
    aa += x * x
    bb += y * y
  }
  return aa > 0 && bb > 0 ? ab / Math.sqrt(aa * bb) : null
}
