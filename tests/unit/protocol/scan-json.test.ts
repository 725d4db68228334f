import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.ts'
import { MAX_JSON_DEPTH, minifyJson, scanJson } from '../../../src/protocol/scan-json.ts'

const caught = (text: string): AppError => {
  try {
    scanJson(text, { keepDepth: 4 })
  } catch (error) {
    if (error instanceof AppError) return error
  }
  throw new Error(`accepted: ${text}`)
}

describe('scanJson', () => {
  const good = ['0', '-1.5e+9', '""', '"\\u12aB\\n"', '[]', '{}', ' [1, {"a": [true, false, null]}] ', '{"a":1,"a":2}']
  const bad = [
    '',
    '{"a":1,}',
    '[1,]',
    '[1 2]',
    '// c\n[]',
    '[/* c */]',
    '01',
    '1.',
    '.5',
    '+1',
    '"a',
    '"\\x"',
    '"\\u12g4"',
    '"\n"',
    '[]]',
    '{a:1}',
    "{'a':1}",
    '{"a"}',
    'nul',
    'undefined',
    'NaN',
    '[',
    '\u00a0[]',
  ]
  it.each(good)('accepts %j as JSON.parse does', (text) => {
    expect(() => JSON.parse(text)).not.toThrow()
    const node = scanJson(text, { keepDepth: 4 })
    expect(text.slice(node.start, node.end)).toBe(text.trim())
  })
  it.each(bad)('refuses %j as JSON.parse does', (text) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(caught(text).code).toBe('history-malformed')
  })

  it('names pointer, line and column of an error and quotes nothing of the text', () => {
    const error = caught('{"messages": [\n  {"role": secret}]}')
    expect(error.details).toMatchObject({ pointer: '/messages/0/role', line: 2, column: 12 })
    expect(error.message).not.toContain('secret')
  })

  it('keeps the last of repeated keys, also when one is spelled with an escape', () => {
    const text = '{"content":1,"\\u0063ontent":22}'
    const node = scanJson(text, { keepDepth: 1 }).members.get('content')
    expect(text.slice(node?.start, node?.end)).toBe('22')
  })

  it('refuses nesting beyond the limit instead of overflowing the stack', () => {
    expect(() => scanJson('['.repeat(MAX_JSON_DEPTH) + ']'.repeat(MAX_JSON_DEPTH), { keepDepth: 1 })).not.toThrow()
    const error = caught('['.repeat(200_000))
    expect(error.code).toBe('history-malformed')
    expect(error.details.limit).toBe(MAX_JSON_DEPTH)
  })
})

describe('minifyJson', () => {
  it('drops white space between tokens only', () => {
    expect(minifyJson('{ "a b" : [ 1.0 ,\n 12345678901234567890 ] , "c\\" d" : "e  f" }')).toBe(
      '{"a b":[1.0,12345678901234567890],"c\\" d":"e  f"}',
    )
  })
})
