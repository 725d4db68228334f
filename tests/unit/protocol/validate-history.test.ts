import { describe, expect, it } from 'vitest'
import { FORMATS } from '../../../src/protocol/formats.ts'
import { HISTORY_FORMATS } from '../../../src/protocol/history.ts'
import { parseHistory } from '../../../src/protocol/parse-history.ts'
import { blockingViolations, validateHistory } from '../../../src/protocol/validate-history.ts'

describe.each(HISTORY_FORMATS)('the rules of %s', (format) => {
  it.each([...FORMATS[format].rules])('$id: $sentence', (rule) => {
    const violations = validateHistory(parseHistory(rule.examples.violating, format))
    expect(new Set(violations.map((violation) => violation.rule))).toEqual(new Set([rule.id]))
    expect(violations[0]?.pointer).toMatch(new RegExp(`^/${FORMATS[format].listFields[0]}/\\d`))
    expect(validateHistory(parseHistory(rule.examples.valid, format))).toEqual([])
  })
})

const anthropic = (text: string): readonly string[] =>
  validateHistory(parseHistory(text, 'anthropic-messages')).map(
    ({ rule, pointer, advisory }) => `${rule} ${pointer}${advisory ? ' advisory' : ''}`,
  )
const openai = (text: string): readonly string[] =>
  validateHistory(parseHistory(text, 'openai-chat')).map(
    ({ rule, pointer, advisory }) => `${rule} ${pointer}${advisory ? ' advisory' : ''}`,
  )

const USE = (id: string): string => `{"type":"tool_use","id":"${id}","name":"t","input":{}}`
const RESULT = (id: string): string => `{"type":"tool_result","tool_use_id":"${id}"}`
const A = (...blocks: string[]): string => `{"role":"assistant","content":[${blocks}]}`
const U = (...blocks: string[]): string => `{"role":"user","content":[${blocks}]}`
const GO = '{"role":"user","content":"go"}'

describe('validateHistory on Anthropic messages', () => {
  it('accepts results of one batch in two neighbouring user messages, because those are combined', () => {
    expect(anthropic(`[${GO},${A(USE('a'), USE('b'))},${U(RESULT('b'))},${U(RESULT('a'))}]`)).toEqual([])
  })
  it('reports calls in flight, and an assistant message at the end, as advisory only', () => {
    expect(anthropic(`[${GO},${A(USE('a'))}]`)).toEqual([
      'A1 /messages/1/content/0 advisory',
      'A7 /messages/1 advisory',
    ])
  })
  it('reports the unanswered call of a batch that a later user turn has closed', () => {
    expect(anthropic(`[${GO},${A(USE('a'), USE('b'))},${U(RESULT('a'), '{"type":"text","text":"x"}')}]`)).toEqual([
      'A1 /messages/1/content/1',
    ])
  })
  it('reports an id that is used twice in the request', () => {
    expect(anthropic(`[${GO},${A(USE('a'))},${U(RESULT('a'))},${A(USE('a'))},${U(RESULT('a'))}]`)).toEqual([
      'A3 /messages/3/content/0',
    ])
  })
  it('tolerates an empty final assistant message and no other empty content', () => {
    expect(anthropic(`[${GO},{"role":"assistant","content":[]}]`)).toEqual(['A7 /messages/1 advisory'])
    expect(anthropic('[{"role":"user","content":""}]')).toEqual(['A8 /messages/0/content'])
    expect(anthropic('[{"role":"user","content":[]}]')).toEqual(['A8 /messages/0/content'])
  })
  it('points at the very string with half of a surrogate pair', () => {
    expect(
      anthropic('[{"role":"user","content":[{"type":"text","text":"ok"},{"type":"text","text":"\\uDE00x"}]}]'),
    ).toEqual(['A16 /messages/0/content/1/text'])
  })
})

describe('validateHistory on OpenAI chat', () => {
  const call = (...ids: string[]): string =>
    JSON.stringify({
      role: 'assistant',
      content: null,
      tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 't', arguments: '{}' } })),
    })
  const tool = (id: string): string => JSON.stringify({ role: 'tool', tool_call_id: id, content: '' })

  it('accepts results of a batch in any order, reused ids, and an assistant message first or last', () => {
    const text = `[{"role":"assistant","content":"hi"},${GO},${call('a', 'b')},${tool('b')},${tool('a')},${call('a')},${tool('a')},{"role":"assistant","content":"bye"}]`
    expect(openai(text)).toEqual([])
  })
  it('reports a steering message between call and result on both sides', () => {
    expect(openai(`[${GO},${call('a')},${GO},${tool('a')}]`)).toEqual(['C1 /messages/1/tool_calls/0', 'C2 /messages/3'])
  })
  it('reports the second result of one call', () => {
    expect(openai(`[${GO},${call('a')},${tool('a')},${tool('a')}]`)).toEqual(['C2 /messages/3'])
  })
  it('reports calls in flight as advisory', () => {
    expect(openai(`[${GO},${call('a', 'b')},${tool('b')}]`)).toEqual(['C1 /messages/1/tool_calls/0 advisory'])
  })
  it('reports ids between the safe and the highest limit, empty call lists and bad arguments as advisory', () => {
    const id = 'x'.repeat(41)
    expect(openai(`[${GO},${call(id)},${tool(id)}]`)).toEqual([
      'C4 /messages/1/tool_calls/0 advisory',
      'C4 /messages/2 advisory',
    ])
    expect(openai(`[${GO},{"role":"assistant","content":"a","tool_calls":[]}]`)).toEqual([
      'C3 /messages/1/tool_calls advisory',
    ])
  })
  it('lets custom tools take free text', () => {
    const custom =
      '{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sh","input":"ls -l"}}]}'
    expect(openai(`[${GO},${custom},${tool('a')}]`)).toEqual([])
  })
})

describe('blockingViolations', () => {
  it('drops the advisory ones', () => {
    const violations = validateHistory(parseHistory(`[${GO},${A(USE('a'))}]`, 'anthropic-messages'))
    expect(blockingViolations(violations)).toEqual([])
  })
})
