import { describe, expect, it } from 'vitest'
import { sparkline } from '../../../src/cli/sparkline.ts'

describe('sparkline', () => {
  it('draws the lowest value lowest and the highest highest', () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7])).toBe('▁▂▃▄▅▆▇█')
    expect(sparkline([2, -1, 0.5])).toBe('█▁▅')
  })

  it('is flat for equal values, and blank where there is none', () => {
    expect(sparkline([0.3, 0.3])).toBe('▄▄')
    expect(sparkline([1, null, 2])).toBe('▁ █')
    expect(sparkline([null])).toBe(' ')
    expect(sparkline([])).toBe('')
  })
})
