/**
 * A list of numbers in four of them. Pure.
 */
import { quantile } from '../../src/metrics/bootstrap.ts'

export interface Distribution {
  readonly count: number
  readonly total: number
  readonly p10: number
  readonly p50: number
  readonly p90: number
  readonly max: number
}

/** Quantiles are interpolated; all 0 for an empty list. */
export function distributionOf(values: ArrayLike<number>): Distribution {
  const sorted = Float64Array.from(values).sort()
  if (sorted.length === 0) return { count: 0, total: 0, p10: 0, p50: 0, p90: 0, max: 0 }
  return {
    count: sorted.length,
    total: sorted.reduce((sum, value) => sum + value, 0),
    p10: quantile(sorted, 0.1),
    p50: quantile(sorted, 0.5),
    p90: quantile(sorted, 0.9),
    max: sorted[sorted.length - 1] ?? 0,
  }
}
