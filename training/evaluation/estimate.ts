/**
 * From one statistic per rotation to one estimate: the mean over rotations, with a bootstrap interval of that mean.
 */

import type { GroupStatistic } from '../../src/metrics/bootstrap.ts'
import { percentileInterval, pointEstimate, resampleStatistic } from '../../src/metrics/bootstrap.ts'
import { type Estimate, MIN_INTERVAL_GROUPS } from './evaluation-record.ts'
import type { RotationTest } from './rotation-test.ts'

export interface RotationStatistic {
  readonly test: RotationTest
  readonly statistic: GroupStatistic
  /** Test groups with a READY pair in the scope. */
  readonly readyGroups: number
}

export interface ResampledEstimate {
  readonly estimate: Estimate
  /** (resamples) mean over rotations per draw; null when no interval was asked for. */
  readonly draws: Float64Array | null
}

/** @param interval false: point values only (cheap) */
export function estimateOver(rotations: readonly RotationStatistic[], interval: boolean): ResampledEstimate {
  const perRotation = rotations.map(({ test, statistic, readyGroups }) => {
    const value = pointEstimate(test.groups, statistic)
    const draws = interval && value !== null ? resampleStatistic(test.draws, statistic) : null
    return { value, readyGroups, draws }
  })
  const readyGroups = perRotation.reduce((sum, one) => sum + one.readyGroups, 0)
  const draws = interval ? meanDraws(perRotation.map((one) => one.draws)) : null
  const values = perRotation.map((one) => one.value).filter((value) => value !== null)
  return {
    draws,
    estimate: {
      value: values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length,
      interval: draws === null || readyGroups < MIN_INTERVAL_GROUPS ? null : percentileInterval(draws),
      readyGroups,
      rotations: perRotation.map((one) => ({
        value: one.value,
        interval: one.draws === null || one.readyGroups < MIN_INTERVAL_GROUPS ? null : percentileInterval(one.draws),
        readyGroups: one.readyGroups,
      })),
    },
  }
}

/** Per draw the mean over the rotations in which it is defined; NaN if in none. Rotations draw independently. */
function meanDraws(rotations: readonly (Float64Array | null)[]): Float64Array | null {
  const defined = rotations.filter((draws) => draws !== null)
  const length = defined[0]?.length
  if (length === undefined) return null
  return Float64Array.from({ length }, (_, draw) => {
    let sum = 0
    let count = 0
    for (const draws of defined) {
      const value = draws[draw] ?? Number.NaN
      if (Number.isNaN(value)) continue
      sum += value
      count += 1
    }
    return count === 0 ? Number.NaN : sum / count
  })
}
