import { describe, expect, it } from 'vitest'
import {
  drawGroups,
  pairedDifferenceInterval,
  percentileInterval,
  pointEstimate,
  resampleStatistic,
} from '../../../src/metrics/bootstrap.ts'
import { groupedRatio } from '../../../src/metrics/group-statistics.ts'
import { createRng } from '../../../src/rng.ts'

describe('percentile interval', () => {
  it('interpolates between order statistics and leaves undefined resamples out', () => {
    const values = [...Array.from({ length: 101 }, (_, i) => i / 100), Number.NaN].reverse()
    const interval = percentileInterval(values)
    expect(interval?.low).toBeCloseTo(0.025, 12)
    expect(interval?.high).toBeCloseTo(0.975, 12)
    expect(percentileInterval([Number.NaN])).toBeNull()
  })

  it('covers a mean about as often as it says', () => {
    const rng = createRng(11)
    let covered = 0
    const experiments = 200
    for (let experiment = 0; experiment < experiments; experiment++) {
      const values = Array.from({ length: 40 }, () => rng.nextNormal())
      const draws = drawGroups({ groups: 40, resamples: 300 }, rng)
      const interval = percentileInterval(resampleStatistic(draws, groupedRatio(values, new Array(40).fill(1))))
      if (interval !== null && interval.low <= 0 && interval.high >= 0) covered += 1
    }
    expect(covered / experiments).toBeGreaterThan(0.88)
    expect(covered / experiments).toBeLessThan(0.99)
  })
})

describe('strata of few groups', () => {
  it('give the variance of a mean without bias when n - 1 of n groups are drawn', () => {
    const values = [1, 4, 7]
    const draws = drawGroups({ groups: 3, resamples: 20_000, size: 2 }, createRng(9))
    const means = resampleStatistic(draws, groupedRatio(values, [1, 1, 1]))
    const variance = means.reduce((sum, mean) => sum + (mean - 4) ** 2, 0) / means.length
    expect(variance).toBeGreaterThan(2.9)
    expect(variance).toBeLessThan(3.1)
  })
})

describe('paired differences', () => {
  it('are narrower than the intervals of their parts when both rise and fall together', () => {
    const base = Array.from({ length: 30 }, (_, i) => i / 30)
    const ones = new Array(30).fill(1)
    const draws = drawGroups({ groups: 30, resamples: 400 }, createRng(3))
    const a = resampleStatistic(
      draws,
      groupedRatio(
        base.map((value) => value + 0.05),
        ones,
      ),
    )
    const b = resampleStatistic(draws, groupedRatio(base, ones))
    const single = percentileInterval(a)
    const difference = pairedDifferenceInterval(a, b)
    expect(difference?.low).toBeCloseTo(0.05, 9)
    expect((single?.high ?? 0) - (single?.low ?? 0)).toBeGreaterThan(0.1)
  })

  it('refuse values of two different draws', () => {
    expect(() => pairedDifferenceInterval([1, 2], [1])).toThrow(/share one draw/)
  })
})

describe('a ratio of sums', () => {
  it('is null when no drawn group has weight', () => {
    const statistic = groupedRatio([3, 0], [4, 0])
    expect(pointEstimate(2, statistic)).toBe(0.75)
    expect(statistic([0, 2])).toBeNull()
  })
})
