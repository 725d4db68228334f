import { describe, expect, it } from 'vitest'
import { marginStability } from '../../../src/metrics/margin-stability.ts'

describe('margin stability', () => {
  it('counts the decisions that keep their side, READY and KEEP apart', () => {
    const { pairs, kept, readyKept, keepKept } = marginStability([2, 1, 0.1, -1, -2], [2, -1, 0.2, -3, 1], 0)
    expect({ pairs, kept, readyKept, keepKept }).toEqual({ pairs: 5, kept: 3 / 5, readyKept: 2 / 3, keepKept: 1 / 2 })
  })

  it('keeps everything between a score and itself, and measures no shift', () => {
    const same = marginStability([3, -1, 0.5], [3, -1, 0.5], 0.2)
    expect(same).toMatchObject({ kept: 1, readyKept: 1, keepKept: 1, correlation: 1 })
    expect(same.shiftQuantiles.every(({ shift }) => shift === 0)).toBe(true)
  })

  it('measures each score from its own threshold', () => {
    const moved = marginStability([0, 1, 2], [10, 11, 12], { a: 0.5, b: 10.5 })
    expect(moved.kept).toBe(1)
    expect(moved.shiftQuantiles.at(-1)).toEqual({ level: 1, shift: 0 })
  })

  it('shows how far from the threshold a decision is safe', () => {
    const a = Array.from({ length: 200 }, (_, i) => (i - 100) / 10 + 0.05)
    const { byMargin } = marginStability(
      a,
      a.map((logit, i) => logit + (i % 2 === 0 ? 2 : -2)),
      0,
    )
    expect(byMargin).toHaveLength(10)
    expect(byMargin.reduce((sum, bin) => sum + bin.pairs, 0)).toBe(200)
    expect(byMargin[0]?.kept).toBeCloseTo(0.5, 5)
    expect(byMargin.at(-1)?.kept).toBe(1)
  })

  it('has no shares without pairs, and refuses scores of other pairs', () => {
    expect(marginStability([], [], 0)).toMatchObject({ pairs: 0, kept: null, shiftQuantiles: [], byMargin: [] })
    expect(marginStability([1, 2], [1, 2], Number.POSITIVE_INFINITY)).toMatchObject({ kept: 1, readyKept: null })
    expect(() => marginStability([1, 2], [1], 0)).toThrow(expect.objectContaining({ code: 'invariant' }))
  })
})
