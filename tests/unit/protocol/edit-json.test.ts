import { describe, expect, it } from 'vitest'
import { removeAt, renameKey, replaceAt, replaceElements, sliceAt } from '../../../src/protocol/edit-json.ts'

const RAW = '{ "a" : 1.0 , "b": [ 1, {"c":"x"} ,3 ], "q\\"k" :{}, "a":2}'

describe('removeAt', () => {
  it.each([
    ['a member in the middle', RAW, ['b'], '{ "a" : 1.0 , "q\\"k" :{}, "a":2}'],
    ['the last member', '{"a":1, "b":2 }', ['b'], '{"a":1 }'],
    ['the first member', '{"a":1, "b":2}', ['a'], '{"b":2}'],
    ['the only member', '{ "a":1 }', ['a'], '{ }'],
    ['a member whose key has quotes in it', RAW, ['q"k'], '{ "a" : 1.0 , "b": [ 1, {"c":"x"} ,3 ], "a":2}'],
    ['every value of a repeated key', RAW, ['a'], '{ "b": [ 1, {"c":"x"} ,3 ], "q\\"k" :{}}'],
    ['an element', RAW, ['b', 1], '{ "a" : 1.0 , "b": [ 1, 3 ], "q\\"k" :{}, "a":2}'],
    ['the last element', '[1, 2 ]', [1], '[1 ]'],
    ['a member deep inside', RAW, ['b', 1, 'c'], '{ "a" : 1.0 , "b": [ 1, {} ,3 ], "q\\"k" :{}, "a":2}'],
    ['nothing where there is nothing', RAW, ['z'], RAW],
  ] as const)('takes out %s and no other byte', (_what, raw, path, expected) => {
    expect(removeAt(raw, path)).toBe(expected)
    JSON.parse(expected)
  })
})

describe('the other edits', () => {
  it('replace a value, a list or a key in its place', () => {
    expect(replaceAt(RAW, ['b', 1, 'c'], '"y"')).toBe(RAW.replace('"x"', '"y"'))
    expect(replaceElements(RAW, ['b'], ['7.0', '{}'])).toBe('{ "a" : 1.0 , "b": [7.0,{}], "q\\"k" :{}, "a":2}')
    expect(renameKey('{"x":"a:b", "result" : {"y":"z"}}', ['result'], 'output')).toBe(
      '{"x":"a:b", "output": {"y":"z"}}',
    )
  })
  it('read the slice of a value, the last of a repeated key', () => {
    expect(sliceAt(RAW, ['b', 1])).toBe('{"c":"x"}')
    expect(sliceAt(RAW, ['a'])).toBe('2')
    expect(sliceAt(RAW, ['b', 9])).toBeNull()
  })
  it('refuse a place that is not there', () => {
    expect(() => replaceAt(RAW, ['z'], '1')).toThrow('invariant')
  })
})
