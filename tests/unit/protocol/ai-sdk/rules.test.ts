import { describe, expect, it } from 'vitest'
import { parseHistory } from '../../../../src/protocol/parse-history.ts'
import { validateHistory } from '../../../../src/protocol/validate-history.ts'

const found = (...messages: readonly unknown[]): readonly string[] =>
  validateHistory(parseHistory(JSON.stringify(messages), 'ai-sdk')).map(
    ({ rule, pointer, advisory }) => `${rule} ${pointer}${advisory ? ' advisory' : ''}`,
  )

const GO = { role: 'user', content: 'go' }
const says = (...content: unknown[]): unknown => ({ role: 'assistant', content })
const tool = (...content: unknown[]): unknown => ({ role: 'tool', content })
const call = (id: string, more: object = {}): unknown => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'run',
  input: {},
  ...more,
})
const result = (id: string): unknown => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'run',
  output: { type: 'text', value: 'ok' },
})

describe('validateHistory on AI SDK messages', () => {
  it('accepts results of a batch in any order and over neighbouring tool messages', () => {
    expect(found(GO, says(call('a'), call('b')), tool(result('b')), tool(), tool(result('a')))).toEqual([])
  })

  it('reports calls in flight as advisory, and one of a batch that stays unanswered as broken', () => {
    expect(found(GO, says(call('a'), call('b')), tool(result('b')))).toEqual(['V1 /messages/1/content/0 advisory'])
    expect(found(GO, says(call('a'), call('b')), tool(result('b')), GO)).toEqual(['V1 /messages/1/content/0'])
  })

  it('lets a call that the provider executes go without a result', () => {
    expect(found(GO, says(call('a', { providerExecuted: true }), { type: 'text', text: 'x' }), GO)).toEqual([])
  })

  it('reports user and assistant messages between a call and its result', () => {
    expect(found(GO, says(call('a')), GO, tool(result('a')))).toEqual(['V5 /messages/3/content/0'])
    expect(found(GO, says(call('a')), says({ type: 'text', text: 'hm' }), tool(result('a')))).toEqual([
      'V5 /messages/3/content/0',
    ])
  })

  it('pairs reused ids with the nearest unanswered call', () => {
    expect(found(GO, says(call('a')), GO, says(call('a')), tool(result('a')))).toEqual([
      'V1 /messages/1/content/0',
      'V4 /messages/3/content/0 advisory',
    ])
    expect(found(GO, says(call('a'), call('a')), tool(result('a'), result('a')))).toEqual(['V4 /messages/1/content/1'])
  })

  it('tells an orphan from a second result', () => {
    expect(found(GO, says(call('a')), tool(result('a'), result('b'), result('a')))).toEqual([
      'V2 /messages/2/content/1',
      'V3 /messages/2/content/2',
    ])
  })

  it('reports messages that are empty once empty texts are dropped, and reasoning alone', () => {
    expect(found(GO, { role: 'assistant', content: '' }, GO)).toEqual(['V6 /messages/1'])
    expect(found(GO, says({ type: 'text', text: '' }), { role: 'user', content: [] })).toEqual([
      'V6 /messages/1',
      'V6 /messages/2 advisory',
    ])
    expect(found(GO, says({ type: 'reasoning', text: 'hm' }), GO)).toEqual(['V6 /messages/1 advisory'])
  })

  it('reports outputs that are no {type, value}', () => {
    const wrong = (output: unknown): readonly string[] =>
      found(GO, says(call('a')), tool({ type: 'tool-result', toolCallId: 'a', toolName: 'run', output }))
    for (const output of ['bare', { type: 'text' }, { type: 'html', value: '' }, undefined])
      expect(wrong(output)).toEqual(['V8 /messages/2/content/0'])
    expect(wrong({ type: 'execution-denied' })).toEqual([])
  })

  it('reports an empty list, and an assistant at either end as advisory', () => {
    expect(found()).toEqual(['V9 /messages'])
    expect(found({ role: 'system', content: 's' }, says({ type: 'text', text: 'hi' }))).toEqual([
      'V9 /messages/1 advisory',
      'V10 /messages/1 advisory',
    ])
  })
})
