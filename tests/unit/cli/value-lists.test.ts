import { describe, expect, it } from 'vitest'
import { parseInputKinds, parseNumber, parseNumberList } from '../../../src/cli/value-lists.ts'

describe('parseNumberList', () => {
  it('reads each value once, in the order given', () => {
    expect(parseNumberList('20,1,2e-3, 5,1')).toEqual([20, 1, 0.002, 5])
  })

  it.each(['', '1,', '1;2', '1,two', 'Infinity'])('refuses %j', (text) => {
    expect(() => parseNumberList(text)).toThrow(/numbers with commas between them/)
  })
})

describe('parseInputKinds', () => {
  it('reads kinds in the order of the list of kinds', () => {
    expect(parseInputKinds('evidence, hidden')).toEqual(['hidden', 'evidence'])
  })

  it.each(['', 'evidence,everything', 'evidence,'])('refuses %j and lists the kinds', (text) => {
    expect(() => parseInputKinds(text)).toThrow(/of hidden, hidden\+evidence, evidence\./)
  })
})

describe('parseNumber', () => {
  it('reads one number and refuses anything else', () => {
    expect(parseNumber('1e-3')).toBe(0.001)
    for (const text of ['', ' ', 'x', 'NaN']) expect(() => parseNumber(text)).toThrow(/must be a number/)
  })
})
