import { describe, expect, it } from 'vitest'
import { auroc } from '../../../src/metrics/auroc.ts'
import { rankByScore } from '../../../src/metrics/ranking.ts'
import { createRng } from '../../../src/rng.ts'

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

  it('ranks many rows as few: by value, ties in row order, infinities and both zeros included', () => {
    const rng = createRng(3)
    const odd = [0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MIN_VALUE, -Number.MIN_VALUE, 1e300]
    const scores = Array.from({ length: 5000 }, (_, i) =>
      i % 3 === 0 ? Math.round(4 * rng.nextNormal()) : i % 50 === 1 ? (odd[i % odd.length] ?? 0) : rng.nextNormal(),
    )
    const slow = scores
      .map((_, row) => row)
      .sort((a, b) => ((scores[b] ?? 0) > (scores[a] ?? 0) ? 1 : (scores[b] ?? 0) < (scores[a] ?? 0) ? -1 : a - b))
    const { order, tieEnds } = rankByScore(scores)
    expect(Array.from(order)).toEqual(slow)
    expect(tieEnds).toHaveLength(new Set(scores.map((score) => score + 0)).size)
  })
})
