import { describe, expect, it } from 'vitest'
import { expectRowsEqual, rowError } from './compare-rows.ts'

const golden = Float32Array.of(1000, -500, 1, 0.5)

function compare(...actual: readonly number[]): () => number {
  return () => expectRowsEqual({ what: 'x', actual: Float32Array.from(actual), golden, cols: 2 })
}

describe('expectRowsEqual', () => {
  it('accepts rows within 2e-5 of their own largest value and returns the worst', () => {
    expect(compare(1000.01, -500, 1, 0.5)()).toBeCloseTo(1e-5, 7)
  })

  it('judges each row by its own scale: a large row hides no error of a small one', () => {
    expect(compare(1000, -500, 1.0001, 0.5)).toThrow(/row 1\. HINT/)
    expect(compare(1000, -500.05, 1, 0.5)).toThrow(/row 0/)
  })

  it('rejects NaN, infinities and other lengths', () => {
    expect(compare(1000, -500, Number.NaN, 0.5)).toThrow(/row 1/)
    expect(compare(Infinity, -500, 1, 0.5)).toThrow(/row 0/)
    expect(compare(1000, -500)).toThrow(/number of values/)
    expect(rowError(Float32Array.of(1), Float32Array.of(1, 2))).toBe(Infinity)
    expect(rowError(new Float32Array(2), new Float32Array(2))).toBe(0)
  })
})
