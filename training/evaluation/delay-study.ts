/**
 * How long after its boundary an interaction is first called READY, as a distribution over the interactions of all test
 * runs: calls of different rotations may be counted together, each at its own threshold.
 */
import { quantile } from '../../src/metrics/bootstrap.ts'
import { type InteractionFate, isTimely } from './first-selections.ts'
import type { DelayRecord } from './router-study-record.ts'

const LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95] as const
/** The outer bars of the histogram hold everything beyond. */
export const HISTOGRAM_REACH = 20

export function delayRecord(fates: readonly InteractionFate[]): DelayRecord {
  const called = fates.filter((fate) => fate.first !== null)
  const premature = called.filter((fate) => !isTimely(fate))
  const becoming = fates.filter((fate) => fate.becomesReady)
  const afterBoundary = (fate: InteractionFate): number => (fate.first ?? 0) - fate.boundary
  const sorted = (values: readonly number[]): Float64Array => Float64Array.from(values).sort()
  const delays = sorted(called.filter(isTimely).map(afterBoundary))
  const leads = sorted(premature.filter((fate) => fate.boundary !== -1).map((fate) => -afterBoundary(fate)))
  const orNever = sorted(
    becoming.map((fate) => (fate.first === null ? Number.POSITIVE_INFINITY : Math.max(0, afterBoundary(fate)))),
  )
  return {
    becomeReady: becoming.length,
    caught: becoming.filter((fate) => fate.first !== null).length,
    called: called.length,
    premature: premature.length,
    prematureWithoutBoundary: premature.filter((fate) => fate.boundary === -1).length,
    quantiles: LEVELS.map((level) => ({
      level,
      delay: delays.length === 0 ? null : quantile(delays, level),
      delayOrNever: orderStatistic(orNever, level),
      lead: leads.length === 0 ? null : quantile(leads, level),
    })),
    histogram: histogramOf(called.filter((fate) => fate.boundary !== -1).map(afterBoundary)),
  }
}

/** Never is a value here, so none is interpolated: the smallest delay that a share `level` does not exceed. */
function orderStatistic(sorted: Float64Array, level: number): number | null {
  const value = sorted[Math.max(0, Math.ceil(level * sorted.length) - 1)]
  return value === undefined || value === Number.POSITIVE_INFINITY ? null : value
}

function histogramOf(delays: readonly number[]): DelayRecord['histogram'] {
  const counts = new Map<number, number>()
  for (const delay of delays) {
    const bar = Math.min(HISTOGRAM_REACH, Math.max(-HISTOGRAM_REACH, delay))
    counts.set(bar, (counts.get(bar) ?? 0) + 1)
  }
  if (counts.size === 0) return []
  const [low, high] = [Math.min(...counts.keys()), Math.max(...counts.keys())]
  return Array.from({ length: high - low + 1 }, (_, i) => ({
    delay: low + i,
    interactions: counts.get(low + i) ?? 0,
  }))
}
