import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { DEFAULT_RETRY, isRetriedStatus, readRetryAfterMs, retryDelayMs } from '../../../../models/chat/retry.ts'
import { createRng } from '../../../../src/rng.ts'

describe('the wait before a retry', () => {
  test.prop([fc.integer({ min: 0, max: 100 }), fc.integer()])(
    'lies in the upper half of a doubling bound',
    (retry, seed) => {
      const ceiling = Math.min(60_000, 1000 * 2 ** Math.min(retry, 20))
      const delay = retryDelayMs(DEFAULT_RETRY, { retry, retryAfterMs: null, rng: createRng(seed) })
      expect(delay).toBeGreaterThanOrEqual(ceiling / 2)
      expect(delay).toBeLessThanOrEqual(ceiling)
    },
  )

  test.prop([fc.integer({ min: 0, max: 300_000 }), fc.integer()])(
    'is never shorter than asked for',
    (retryAfterMs, seed) => {
      const delay = retryDelayMs(DEFAULT_RETRY, { retry: 0, retryAfterMs, rng: createRng(seed) })
      expect(delay).toBeGreaterThanOrEqual(retryAfterMs)
    },
  )
})

describe('Retry-After', () => {
  const nowMs = Date.parse('2026-05-01T10:00:00Z')
  const read = (headers: Readonly<Record<string, string>>): number | null =>
    readRetryAfterMs(new Headers(headers), nowMs)

  it('is read as seconds, as a date, and in milliseconds', () => {
    expect(read({ 'retry-after': '3' })).toBe(3000)
    expect(read({ 'retry-after': 'Fri, 01 May 2026 10:00:05 GMT' })).toBe(5000)
    expect(read({ 'retry-after': 'Fri, 01 May 2026 09:00:00 GMT' })).toBe(0)
    expect(read({ 'retry-after': '9', 'retry-after-ms': '250' })).toBe(250)
  })

  it('is none where it says nothing', () => {
    expect(read({})).toBeNull()
    expect(read({ 'retry-after': 'soon' })).toBeNull()
    expect(read({ 'retry-after': '' })).toBeNull()
  })
})

describe('the statuses that are tried again', () => {
  it('are those that pass by themselves', () => {
    const retried = Array.from({ length: 200 }, (_, k) => 400 + k).filter(isRetriedStatus)
    expect(retried).toEqual([408, 409, 425, 429, 500, 502, 503, 504, 529])
  })
})
