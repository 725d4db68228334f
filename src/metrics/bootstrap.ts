/**
 * Bootstrap over groups: the unit that is drawn is the group, since pairs and runs of one task are not independent.
 * A statistic sees how often each group was drawn, so router and baselines share one draw and differences are paired.
 * Pure: randomness comes in as Rng.
 */
import { AppError } from '../errors.ts'
import type { Rng } from '../rng.ts'

/** (resamples, groups) row-major: how often each group stands in each resample. */
export interface GroupDraws {
  readonly groups: number
  readonly resamples: number
  readonly counts: Uint16Array
}

/** A metric as a function of group multiplicities (G); null where it is not defined (a class is missing). */
export interface GroupStatistic {
  (multiplicity: ArrayLike<number>): number | null
  /** The value with every group once, where that has a shorter way. */
  readonly point?: () => number | null
  /** (resamples) all draws at once, where that has a shorter way; NaN where not defined. */
  readonly resample?: (draws: GroupDraws) => Float64Array
}

export interface Interval {
  readonly low: number
  readonly high: number
}

export interface DrawOptions {
  /** At most 65,535, the range of a multiplicity. */
  readonly groups: number
  readonly resamples: number
  /** Groups per resample; default `groups`. */
  readonly size?: number
}

export function drawGroups({ groups, resamples, size = groups }: DrawOptions, rng: Rng): GroupDraws {
  if (groups > 65535) throw new AppError('invariant', `bootstrap: ${groups} groups, at most 65535 can be counted`)
  const counts = new Uint16Array(groups * resamples)
  for (let resample = 0; resample < resamples; resample++) {
    const start = resample * groups
    for (let draw = 0; draw < size; draw++) {
      const at = start + rng.nextBelow(groups)
      counts[at] = (counts[at] ?? 0) + 1
    }
  }
  return { groups, resamples, counts }
}

/** The statistic of the data as they are: every group once. */
export function pointEstimate(groups: number, statistic: GroupStatistic): number | null {
  return statistic.point === undefined ? statistic(new Uint16Array(groups).fill(1)) : statistic.point()
}

/** (resamples) the statistic of each resample; NaN where it is not defined. */
export function resampleStatistic(draws: GroupDraws, statistic: GroupStatistic): Float64Array {
  if (statistic.resample !== undefined) return statistic.resample(draws)
  const out = new Float64Array(draws.resamples)
  for (let resample = 0; resample < draws.resamples; resample++) {
    const multiplicity = draws.counts.subarray(resample * draws.groups, (resample + 1) * draws.groups)
    out[resample] = statistic(multiplicity) ?? Number.NaN
  }
  return out
}

/**
 * Percentile interval of resampled values, linear between order statistics (numpy.percentile's default); NaN is left out.
 * @param level e.g. 0.95: from the 2.5 % to the 97.5 % quantile
 * @returns null when no value is defined
 */
export function percentileInterval(values: ArrayLike<number>, level = 0.95): Interval | null {
  const sorted = Float64Array.from(values)
    .filter((value) => !Number.isNaN(value))
    .sort()
  if (sorted.length === 0) return null
  return { low: quantile(sorted, (1 - level) / 2), high: quantile(sorted, (1 + level) / 2) }
}

/** Interval of a - b over the same draws: where it excludes 0, one beats the other. */
export function pairedDifferenceInterval(a: ArrayLike<number>, b: ArrayLike<number>, level = 0.95): Interval | null {
  if (a.length !== b.length)
    throw new AppError(
      'invariant',
      `paired difference: ${a.length} and ${b.length} resamples, they must share one draw`,
    )
  return percentileInterval(
    Float64Array.from({ length: a.length }, (_, i) => (a[i] ?? Number.NaN) - (b[i] ?? Number.NaN)),
    level,
  )
}

/** Linear quantile of values that rise. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const at = share * (sorted.length - 1)
  const below = Math.floor(at)
  const left = sorted[below] ?? Number.NaN
  const right = sorted[Math.min(below + 1, sorted.length - 1)] ?? Number.NaN
  return left + (at - below) * (right - left)
}
