import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { wholeNumber, wholeNumberParser } from '../../../src/cli/whole-number.ts'

describe('whole numbers from the command line', () => {
  it('are digits from the least value on', () => {
    expect([wholeNumber('--seed', '0', 0), wholeNumberParser(1)('12')]).toEqual([0, 12])
  })

  it.each(['', ' ', '-1', '1.5', '1e3', '0x10', 'two', '9007199254740993'])('are not %j', (text) => {
    expect(() => wholeNumber('--workers', text, 0)).toThrow(expect.objectContaining({ code: 'option-invalid' }))
    expect(() => wholeNumberParser(0)(text)).toThrow(InvalidArgumentError)
  })

  it('name the flag, the value and the limit', () => {
    expect(() => wholeNumber('--workers', '0', 1)).toThrow('--workers 0 is no whole number from 1 on')
    expect(() => wholeNumberParser(100)('99')).toThrow('at least 100')
  })
})
