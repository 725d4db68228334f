import { describe, expect, it } from 'vitest'
import { rememberCounts } from '../../../server/remember-counts.ts'

describe('remembered counts', () => {
  it('are the same numbers, counted once for each text', () => {
    const asked: string[] = []
    const count = rememberCounts((text) => {
      asked.push(text)
      return text.length
    })
    expect(['', 'abc', '', 'abc', 'ab'].map(count)).toEqual([0, 3, 0, 3, 2])
    expect(asked).toEqual(['', 'abc', 'ab'])
  })
})
