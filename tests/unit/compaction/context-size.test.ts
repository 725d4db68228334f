import { describe, expect, it } from 'vitest'
import { createContextMeter } from '../../../src/compaction/context-size.ts'
import type { JsonObject } from '../../../src/protocol/segment.ts'

const WINDOW = { contextWindow: 1000, triggerRatio: 0.8 }
const readings = (...calls: readonly JsonObject[]) => {
  const meter = createContextMeter(WINDOW)
  return calls.map((call) => meter.observe(call))
}
const anthropic = (input: number, read: number, write = 0): JsonObject => ({
  input_tokens: input,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: write,
})

describe('createContextMeter', () => {
  it('adds the cached tokens that Anthropic counts beside its input, and no one else', () => {
    const [one, two, three] = readings(
      anthropic(10, 200, 30),
      { prompt_tokens: 240, prompt_tokens_details: { cached_tokens: 200 } },
      { promptTokenCount: 240, cachedContentTokenCount: 200 },
    )
    expect([one, two, three].map((reading) => reading?.contextTokens)).toEqual([240, 240, 240])
  })
  it('triggers from the ratio on', () => {
    expect(readings(anthropic(799, 0), anthropic(800, 0)).map(({ trigger }) => trigger)).toEqual([false, true])
  })
  it('ignores a cache read above what there was to cache, and keeps the last plausible reading', () => {
    const seen = readings(anthropic(100, 200), anthropic(1, 600), anthropic(1, 310))
    expect(seen.map(({ contextTokens }) => contextTokens)).toEqual([300, null, 311])
    expect(seen[1]?.ignored).toBe('implausible-cache-read')
  })
  it('ignores totals above the window, other threads and calls without counters', () => {
    const seen = readings(
      anthropic(1001, 0),
      { thread: 'sub', input_tokens: 900 },
      { session_total_input_tokens: 5000 },
    )
    expect(seen.map(({ ignored }) => ignored)).toEqual(['above-window', 'other-thread', 'no-usage'])
    expect(seen.every(({ trigger }) => !trigger)).toBe(true)
  })
  it('after a server-side compaction reads the message pass, not the compaction pass', () => {
    const call = {
      ...anthropic(900, 0),
      iterations: [
        { type: 'compaction', input_tokens: 900 },
        { type: 'message', input_tokens: 30 },
      ],
    }
    expect(readings(anthropic(850, 0), call)[1]).toMatchObject({ contextTokens: 30, trigger: false })
  })
})
