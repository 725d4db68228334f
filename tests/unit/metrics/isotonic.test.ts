import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { applyIsotonic, fitIsotonic } from '../../../src/metrics/isotonic.ts'

describe('isotonic map', () => {
  it('interpolates between pools and is constant outside the training scores', () => {
    const map = fitIsotonic([0, 1, 2, 3], [0, 1, 0, 1])
    expect(map).toEqual({ scores: [0, 1, 2, 3], values: [0, 0.5, 0.5, 1] })
    expect(applyIsotonic(map, -5)).toBe(0)
    expect(applyIsotonic(map, 0.5)).toBe(0.25)
    expect(applyIsotonic(map, 2.5)).toBe(0.75)
    expect(applyIsotonic(map, 9)).toBe(1)
  })

  it('counts a row of weight 3 like three rows and ignores rows of weight 0', () => {
    const weighted = fitIsotonic([1, 1, 2, 5], [1, 0, 0, 1], [3, 1, 2, 0])
    expect(weighted).toEqual(fitIsotonic([1, 1, 1, 1, 2, 2], [1, 1, 1, 0, 0, 0]))
  })

  it('refuses to fit when no row has weight', () => {
    expect(() => fitIsotonic([1], [1], [0])).toThrow(AppError)
    expect(() => fitIsotonic([], [])).toThrow(/no|none/)
  })
})
