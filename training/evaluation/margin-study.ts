/**
 * Decision margins |logit - tau| of held-out pairs (paper B.3, C.2): how large a change of the scores can be before
 * decisions change sides, for any change of that size and for changes that were measured.
 */
import { quantile } from '../../src/metrics/bootstrap.ts'
import type { MarginRecord, MeasuredPerturbation } from './router-study-record.ts'

const LEVELS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9] as const
const PERTURBATIONS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 4] as const

export interface MarginInput {
  readonly operatingPoint: string
  /** logit - tau of the headline test pairs of every rotation that has a threshold. */
  readonly distances: Float64Array
  readonly measured: readonly MeasuredPerturbation[]
}

export function marginRecord({ operatingPoint, distances, measured }: MarginInput): MarginRecord {
  const columns = {
    all: distances.map(Math.abs).sort(),
    ready: distances.filter((distance) => distance >= 0).sort(),
    keep: distances
      .filter((distance) => distance < 0)
      .map((distance) => -distance)
      .sort(),
  }
  const each = (value: (sorted: Float64Array) => number | null) => ({
    all: value(columns.all),
    ready: value(columns.ready),
    keep: value(columns.keep),
  })
  return {
    operatingPoint,
    pairs: distances.length,
    ready: columns.ready.length,
    quantiles: LEVELS.map((level) => ({
      level,
      ...each((sorted) => (sorted.length === 0 ? null : quantile(sorted, level))),
    })),
    kept: PERTURBATIONS.map((perturbation) => ({
      perturbation,
      ...each((sorted) => shareAbove(sorted, perturbation)),
    })),
    measured,
  }
}

function shareAbove(sorted: Float64Array, size: number): number | null {
  if (sorted.length === 0) return null
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? 0) > size) high = middle
    else low = middle + 1
  }
  return (sorted.length - low) / sorted.length
}
