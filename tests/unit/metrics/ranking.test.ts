import { describe, expect, it } from 'vitest'
import { auroc } from '../../../src/metrics/auroc.ts'
import { rankByScore } from '../../../src/metrics/ranking.ts'

describe('ranking', () => {
  it('puts the highest score first and keeps tied rows together in row order', () => {
    const ranking = rankByScore([0.5, Number.POSITIVE_INFINITY, 0.5, -1])
    expect([...ranking.order]).toEqual([1, 0, 2, 3])
    expect([...ranking.tieEnds]).toEqual([1, 3, 4])
  })

  it('refuses a NaN score by name', () => {
    expect(() => auroc([0.1, Number.NaN], [0, 1])).toThrow(expect.objectContaining({ code: 'output-not-finite' }))
  })

  it('refuses columns of different lengths', () => {
    expect(() => auroc([0.1, 0.2], [0])).toThrow(expect.objectContaining({ code: 'invariant' }))
  })
})
