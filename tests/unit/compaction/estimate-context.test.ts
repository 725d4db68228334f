import { describe, expect, it } from 'vitest'
import { estimateContext } from '../../../src/compaction/estimate-context.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'

const countTokens = (text: string): number => text.length
const compaction = {
  role: 'assistant',
  content: [{ type: 'compaction', content: 'so far: nothing', signature: 'x'.repeat(9000) }],
}
const LONG = [
  { role: 'user', content: 'u'.repeat(500) },
  { role: 'assistant', content: 'a'.repeat(500) },
]
const history = (messages: readonly unknown[]) => parseHistory(JSON.stringify(messages), 'anthropic-messages')

describe('estimateContext', () => {
  it('takes the counters of the newest call', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 700 }
    expect(estimateContext({ history: history(LONG), usage, countTokens })).toEqual({
      tokens: 710,
      basis: 'usage',
      ignored: null,
    })
  })
  it('counts what is left after a compaction, whose response still counts what was before it', () => {
    const after = [...LONG, compaction, { role: 'user', content: 'go on' }]
    const { tokens, basis, ignored } = estimateContext({
      history: history(after),
      usage: { input_tokens: 51_097 },
      countTokens,
    })
    expect({ basis, ignored }).toEqual({ basis: 'count', ignored: 'stale-after-compaction' })
    expect(tokens).toBeGreaterThan(0)
    expect(tokens).toBeLessThan(100)
  })
  it('counts without counters, and with counters that say nothing', () => {
    const counted = estimateContext({ history: history(LONG), usage: null, countTokens })
    expect(counted).toMatchObject({ basis: 'count', ignored: null })
    expect(counted.tokens).toBeGreaterThanOrEqual(1000)
    expect(estimateContext({ history: history(LONG), usage: { output_tokens: 3 }, countTokens })).toMatchObject({
      basis: 'count',
      ignored: 'implausible',
    })
  })
})
