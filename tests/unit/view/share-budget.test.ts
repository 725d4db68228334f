import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { shareBudget } from '../../../src/view/share-budget.ts'

describe('sharing a budget', () => {
  it('keeps short texts whole and cuts long ones equally', () => {
    expect(shareBudget([10, 500, 30, 400], 240)).toEqual([10, 100, 30, 100])
  })

  it('gives everything when there is enough', () => {
    expect(shareBudget([3, 0, 5], 100)).toEqual([3, 0, 5])
  })

  it('gives leftover tokens to earlier texts', () => {
    expect(shareBudget([9, 9, 9], 8).reduce((a, b) => a + b)).toBe(8)
  })

  test.prop([fc.array(fc.nat(300), { maxLength: 12 }), fc.nat(1000)])(
    'uses min(wanted, budget) exactly, and what is cut gets within one token of the largest share',
    (wanted, budget) => {
      const shares = shareBudget(wanted, budget)
      const sum = (xs: readonly number[]): number => xs.reduce((a, b) => a + b, 0)
      expect(sum(shares)).toBe(Math.min(sum(wanted), budget))
      shares.forEach((share, k) => {
        expect(share).toBeLessThanOrEqual(wanted[k] ?? 0)
        if (share < (wanted[k] ?? 0)) expect(share).toBeGreaterThanOrEqual(Math.max(...shares) - 1)
      })
    },
  )
})
