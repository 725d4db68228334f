import { describe, expect, it } from 'vitest'
import { parseGpuMemory, parseStatus } from '../../../../models/frozen-lm/bench-memory.ts'
import { costAt, fitCost, median, pairedRatio, summarise } from '../../../../models/frozen-lm/bench-statistics.ts'

describe('summarise', () => {
  it('takes the middle, or the mean of the two in the middle', () => {
    expect(summarise([9, 1, 5])).toEqual({ median: 5, min: 1, max: 9, count: 3 })
    expect(median([4, 1, 3, 2])).toBe(2.5)
  })

  it('knows nothing of no values', () => {
    expect(summarise([])).toEqual({ median: Number.NaN, min: Number.NaN, max: Number.NaN, count: 0 })
  })
})

describe('pairedRatio', () => {
  it('compares rounds with each other, so that a slow round does not count', () => {
    // Everything took ten times as long in the second round.
    expect(pairedRatio([10, 100, 10], [2, 20, 2])).toBe(5)
  })

  it('leaves out rounds that one of the two does not have', () => {
    expect(pairedRatio([12, 8], [2, 2, 1000, 1000])).toBe(5)
    expect(pairedRatio([], [1])).toBeNaN()
  })
})

describe('fitCost', () => {
  it('finds the coefficients of a cost of tokens and pairs, and extrapolates it', () => {
    const points = [100, 200, 400, 1600].map((tokens) => ({ tokens, cost: 3 * tokens + 0.01 * tokens ** 2 }))
    const fit = fitCost(points)
    expect(fit?.linear).toBeCloseTo(3, 9)
    expect(fit?.quadratic).toBeCloseTo(0.01, 9)
    expect(fit?.largestError).toBeLessThan(1e-9)
    expect(costAt(fit ?? { linear: 0, quadratic: 0 }, 10_000)).toBeCloseTo(3e4 + 1e6, 3)
  })

  it('never has a negative coefficient: noise that bends the curve down gives a line', () => {
    const fit = fitCost([
      { tokens: 100, cost: 120 },
      { tokens: 200, cost: 200 },
      { tokens: 400, cost: 380 },
    ])
    expect(fit?.quadratic).toBe(0)
    expect(fit?.linear).toBeGreaterThan(0.9)
  })

  it('needs two lengths', () => {
    expect(fitCost([{ tokens: 5, cost: 1 }])).toBeNull()
  })
})

describe('parseStatus', () => {
  const STATUS = [
    'Name:\tnode',
    'VmHWM:\t   2048 kB',
    'VmRSS:\t   1024 kB',
    'RssAnon:\t    512 kB',
    'RssFile:\t    500 kB',
    'RssShmem:\t     12 kB',
  ]

  it('reads peak, resident size and its split', () => {
    expect(parseStatus(STATUS.join('\n'))).toEqual({
      residentBytes: 1024 * 1024,
      peakBytes: 2048 * 1024,
      anonymousBytes: 512 * 1024,
      fileBytes: 512 * 1024,
    })
  })

  it('is null where the kernel leaves a line out', () => {
    expect(parseStatus(STATUS.filter((line) => !line.startsWith('RssAnon')).join('\n'))).toBeNull()
  })
})

describe('parseGpuMemory', () => {
  it('adds up what one process holds on all devices', () => {
    expect(parseGpuMemory('12, 100\n7, 5\n12, 28\n', 12)).toBe(128 * 2 ** 20)
    expect(parseGpuMemory('7, 5\n', 12)).toBeNull()
  })
})
