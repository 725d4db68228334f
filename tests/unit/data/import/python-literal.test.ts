import { describe, expect, it } from 'vitest'
import { parsePythonLiteral } from '../../../../data/import/python-literal.ts'

describe('Python literals', () => {
  it('reads lists, tuples, dicts, numbers, booleans and None', () => {
    expect(parsePythonLiteral("{'a': [1, -2.5, 1e3, (True, None,)], 2: {}}")).toEqual({
      value: { a: [1, -2.5, 1000, [true, null]], 2: {} },
    })
  })

  it('reads strings of both quotes with their escapes', () => {
    expect(parsePythonLiteral(`['it\\'s', "a \\"b\\"", 'x\\n\\t\\\\ \\x41\\u2713\\U0001F600 \\d']`)).toEqual({
      value: ["it's", 'a "b"', 'x\n\t\\ A✓😀 \\d'],
    })
  })

  it('refuses what is none: names, torn ends, text behind, nesting without end', () => {
    for (const text of ['', '[1, 2', "{'a': }", "['a'] tail", 'TextContent(x=1)', "'open", '1_a', '['.repeat(100_000)])
      expect(parsePythonLiteral(text), text.slice(0, 20)).toBe(undefined)
  })
})
