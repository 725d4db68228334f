import { describe, expect, it } from 'vitest'
import { createVectorCache, viewKey } from '../../../../models/frozen-lm/vector-cache.ts'

describe('the vector cache', () => {
  it('returns copies, so that nobody changes what it remembers', () => {
    const cache = createVectorCache(10_000)
    const values = Float32Array.of(1, 2)
    cache.set('a', values)
    values[0] = 9
    const got = cache.get('a')
    got?.fill(7)
    expect(cache.get('a')).toEqual(Float32Array.of(1, 2))
    expect(cache.get('b')).toBeUndefined()
  })

  it('forgets the longest unused beyond its bytes', () => {
    const vector = new Float32Array(200)
    const cache = createVectorCache(2 * 1000)
    cache.set('a', vector)
    cache.set('b', vector)
    cache.get('a')
    cache.set('c', vector)
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true])
  })

  it('counts a vector that is set twice once', () => {
    const cache = createVectorCache(2 * 1000)
    for (let k = 0; k < 5; k++) cache.set('a', new Float32Array(200))
    cache.set('b', new Float32Array(200))
    expect(cache.get('a')).not.toBeUndefined()
  })
})

describe('the key of a view', () => {
  it('depends on every token and on where the runs are cut', () => {
    const ids = (...tokens: readonly number[]) => Int32Array.from(tokens)
    const whole = viewKey('', ids(1, 2, 3))
    expect(viewKey('', ids(1, 2, 3))).toBe(whole)
    expect(viewKey('', ids(1, 2, 4))).not.toBe(whole)
    expect(viewKey(viewKey('', ids(1, 2)), ids(3))).not.toBe(whole)
    expect(viewKey('', Int32Array.of(0, 1, 2, 3).subarray(1))).toBe(whole)
  })
})
