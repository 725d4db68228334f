import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { computedRows, computedTokenCount } from '../../../../models/frozen-lm/run-shape.ts'

describe('computedTokenCount', () => {
  test.prop([fc.integer({ min: 1, max: 6000 }), fc.integer({ min: 0, max: 6000 })])(
    'adds at most two tokens and leaves no block of 16 or a multiple with a single row',
    (tokens, past) => {
      const computed = computedTokenCount(tokens, past)
      expect(computed - tokens).toBeGreaterThanOrEqual(0)
      expect(computed - tokens).toBeLessThanOrEqual(2)
      for (const block of [16, 32, 128, 512, 640]) {
        expect(computed % block).not.toBe(1)
        expect((past + computed) % block).not.toBe(1)
      }
    },
  )

  it('leaves a run alone that needs no more', () => {
    expect([2, 16, 40, 256].map((tokens) => computedTokenCount(tokens, 2048))).toEqual([2, 16, 40, 256])
  })
})

describe('computedRows', () => {
  it('never computes a single row', () => {
    expect(computedRows([7])).toEqual([7, 7])
    expect(computedRows([7, 3])).toEqual([7, 3])
  })
})
