/**
 * Values over the runs of all rotations together. Only sums are pooled (per-run metrics, decisions at a rotation's own
 * threshold): scores of different rotations come from different models and are never ranked together.
 */
import { percentileInterval } from '../../src/metrics/bootstrap.ts'
import { MIN_INTERVAL_GROUPS } from './evaluation-record.ts'
import type { RotationTest } from './rotation-test.ts'
import type { PooledEstimate } from './router-study-record.ts'

export interface RotationSums {
  readonly test: RotationTest
  /** Test groups with a READY pair in the scope. */
  readonly readyGroups: number
  /** K columns of (groups) sums, the same K in every rotation. */
  readonly columns: readonly Float64Array[]
}

/** Totals of K columns over all rotations: of the data as they are, and of each draw; null: too few groups for intervals. */
export interface PooledTotals {
  readonly columns: number
  /** (K) */
  readonly point: Float64Array
  /** (resamples, K) row-major */
  readonly draws: Float64Array | null
}

export function poolSums(rotations: readonly RotationSums[], options: { readonly interval: boolean }): PooledTotals {
  const columns = rotations[0]?.columns.length ?? 0
  const point = new Float64Array(columns)
  for (const rotation of rotations)
    rotation.columns.forEach((sums, k) => {
      point[k] = sums.reduce((total, sum) => total + sum, point[k] ?? 0)
    })
  const readyGroups = rotations.reduce((sum, rotation) => sum + rotation.readyGroups, 0)
  const wanted = options.interval && readyGroups >= MIN_INTERVAL_GROUPS
  return { columns, point, draws: wanted ? drawTotals(rotations, columns) : null }
}

/** @param value of the K totals; null where it is not defined */
export function pooledEstimate(totals: PooledTotals, value: (totals: Float64Array) => number | null): PooledEstimate {
  const { columns, point, draws } = totals
  if (draws === null) return { value: value(point), interval: null }
  const values = Float64Array.from(
    { length: columns === 0 ? 0 : draws.length / columns },
    (_, draw) => value(draws.subarray(draw * columns, (draw + 1) * columns)) ?? Number.NaN,
  )
  return { value: value(point), interval: percentileInterval(values) }
}

function drawTotals(rotations: readonly RotationSums[], columns: number): Float64Array {
  const resamples = rotations[0]?.test.draws.resamples ?? 0
  const out = new Float64Array(resamples * columns)
  for (const { test, columns: sums } of rotations) {
    const { counts } = test.draws
    sums.forEach((sum, k) => {
      for (let draw = 0; draw < resamples; draw++) {
        let total = 0
        for (let group = 0, at = draw * test.groups; group < test.groups; group++, at++)
          total += (counts[at] ?? 0) * (sum[group] ?? 0)
        out[draw * columns + k] = (out[draw * columns + k] ?? 0) + total
      }
    })
  }
  return out
}
