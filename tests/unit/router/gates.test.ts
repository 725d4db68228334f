import { describe, expect, it } from 'vitest'
import { judgeSpan } from '../../../src/router/gates.ts'

const LIMITS = { minSpanInteractions: 3, minSourceTokens: 1000 }

describe('judgeSpan', () => {
  it('judges length, source tokens and shrink, in this order, each with value and limit', () => {
    expect(judgeSpan({ interactions: 4, sourceTokens: 1000, predictedTokens: 999 }, LIMITS)).toEqual([
      { name: 'length', pass: true, value: 4, limit: 3 },
      { name: 'source-tokens', pass: true, value: 1000, limit: 1000 },
      { name: 'shrink', pass: true, value: 999, limit: 1000 },
    ])
  })
  it('needs more than kappa interactions, at least B_min tokens, and a replacement that is shorter', () => {
    const gates = judgeSpan({ interactions: 3, sourceTokens: 999, predictedTokens: 999 }, LIMITS)
    expect(gates.map(({ pass }) => pass)).toEqual([false, false, false])
  })
})
