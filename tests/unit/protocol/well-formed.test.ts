import { describe, expect, it } from 'vitest'
import { cutText, hasLoneSurrogate, toWellFormed } from '../../../src/protocol/well-formed.ts'

const WHOLE = 'a\ud83d\ude00b'

describe('lone surrogates', () => {
  it.each(['\ud83d', 'a\ude00', '\ud83d\ud83d\ude00', '\ude00\ud83d'])('are found and replaced one by one', (text) => {
    expect(hasLoneSurrogate(text)).toBe(true)
    expect(hasLoneSurrogate(toWellFormed(text))).toBe(false)
    expect(toWellFormed(text).length).toBe(text.length)
  })
  it('are not seen in whole pairs', () => {
    expect(hasLoneSurrogate(WHOLE)).toBe(false)
    expect(toWellFormed(WHOLE)).toBe(WHOLE)
  })
})

describe('cutText', () => {
  it('steps back rather than splitting a pair', () => {
    expect([0, 1, 2, 3, 4, 9].map((limit) => cutText(WHOLE, limit))).toEqual([
      '',
      'a',
      'a',
      'a\ud83d\ude00',
      WHOLE,
      WHOLE,
    ])
  })
})
