/**
 * POST /v1/validate with fix, /v1/plan and /v1/compact with repair: invalid histories over HTTP.
 */
import { describe, expect, it } from 'vitest'
import { compactResponse, planResponse, validateResponse } from '../../../server/wire/responses.schema.ts'
import { JSON_HEADERS, serverUnderTest } from './server-under-test.ts'

async function post(path: string, body: object | string) {
  const app = await serverUnderTest()
  const payload = typeof body === 'string' ? body : JSON.stringify(body)
  return app.inject({ method: 'POST', url: path, headers: JSON_HEADERS, payload })
}

const LONG = 'row of the ledger '.repeat(60)
const use = (id: string): object => ({
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'hm', signature: `sig-${id}` },
    { type: 'tool_use', id, name: 'read', input: { of: id } },
  ],
})
const result = (id: string): object => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: LONG }],
})
const say = (words: string): object => ({ role: 'user', content: words })

/** Interactions: a dead call, then four whole ones. */
const MESSAGES = [
  say('go'),
  use('dead'),
  say('go on'),
  ...['a:1', 'b', 'c', 'd'].flatMap((id) => [use(id), result(id)]),
]

describe('POST /v1/validate with fix', () => {
  it('gives violations of what was sent, changes, the repaired list and what remains', async () => {
    const raw =
      '{"format":"openai-chat","fix":true,"messages":[{"role":"user","content":"hi","n":1.0},{"role":"tool","tool_call_id":"nobody","content":"x"}]}'
    const response = await post('/v1/validate', raw)
    const answer = validateResponse.parse(response.json())
    expect(answer).toMatchObject({ valid: false, violations: [{ rule: 'C2' }], remaining: [] })
    expect(answer.changes).toEqual([
      { rule: 'C2', pointer: '/messages/1', action: 'dropped', sentence: 'a result that answers no call was dropped' },
    ])
    expect(response.body).toContain('"messages":[{"role":"user","content":"hi","n":1.0}]')
  })
  it('answers in the field that the request had', async () => {
    const item = { type: 'function_call_output', call_id: 'nobody', output: 'x' }
    const ask = { type: 'message', role: 'user', content: 'go' }
    const response = await post('/v1/validate', { format: 'openai-responses', fix: true, input: [ask, item] })
    expect(validateResponse.parse(response.json()).input).toEqual([ask])
    const contents = [{ role: 'user', parts: [{ text: 'go' }, { text: '' }] }]
    const gemini = await post('/v1/validate', { format: 'gemini-contents', fix: true, contents })
    expect(validateResponse.parse(gemini.json()).contents).toEqual([{ role: 'user', parts: [{ text: 'go' }] }])
  })
  it('closes calls where it is asked to', async () => {
    const body = { format: 'anthropic-messages', fix: true, dangling_calls: 'close', messages: MESSAGES.slice(0, 3) }
    const answer = validateResponse.parse((await post('/v1/validate', body)).json())
    expect(answer.changes?.map(({ action }) => action)).toEqual(['closed'])
    expect(answer.messages).toHaveLength(4)
  })
  it('says what cannot be repaired', async () => {
    const messages = [{ role: 'assistant', content: 'hello' }]
    const answer = validateResponse.parse(
      (await post('/v1/validate', { format: 'anthropic-messages', fix: true, messages })).json(),
    )
    expect(answer).toMatchObject({ changes: [], remaining: [{ rule: 'A5' }, { rule: 'A7', advisory: true }], messages })
  })
  it('gives neither without fix', async () => {
    const answer = validateResponse.parse(
      (await post('/v1/validate', { format: 'anthropic-messages', messages: MESSAGES })).json(),
    )
    expect(Object.keys(answer)).toEqual(['valid', 'violations'])
  })
})

describe('POST /v1/compact and /v1/plan with repair', () => {
  const labels = (...ready: readonly number[]): object[] =>
    ready.map((interaction) => ({ interaction, label: 'READY' }))
  const body = { format: 'anthropic-messages', messages: MESSAGES, labels: labels(1, 2) }

  it('reject an invalid history without it, and give it back', async () => {
    const answer = compactResponse.parse((await post('/v1/compact', body)).json())
    expect(answer).toMatchObject({ outcome: 'rejected', reason: 'input-invalid', messages: MESSAGES })
    expect(answer.changes).toBeUndefined()
  })
  it('repair it first, and labels still hit the interactions that were meant', async () => {
    const answer = compactResponse.parse((await post('/v1/compact', { ...body, repair: true })).json())
    expect(answer).toMatchObject({ outcome: 'applied', spans: [{ start: 0, end: 2, accepted: true }] })
    expect(answer.changes?.map(({ rule, pointer, action }) => `${rule} ${pointer} ${action}`)).toEqual([
      'A1 /messages/1/content/1 dropped',
      'A14 /messages/3/content/1 renamed',
    ])
    const sent = JSON.stringify(answer.messages)
    for (const kept of ['"c"', '"d"', 'go on']) expect(sent).toContain(kept)
    for (const gone of ['"dead"', '"a:1"', 'sig-b']) expect(sent).not.toContain(gone)
  })
  it('keep pinned ids under their new names', async () => {
    const pinned = { ...body, repair: true, pins: { call_ids: ['a:1'] } }
    const answer = planResponse.parse((await post('/v1/plan', pinned)).json())
    expect(answer.spans.map(({ start, end }) => [start, end])).toEqual([[1, 2]])
    expect(answer.changes).toHaveLength(2)
  })
  it('give back the repaired history when nothing is replaced', async () => {
    const answer = compactResponse.parse((await post('/v1/compact', { ...body, labels: [], repair: true })).json())
    expect(answer).toMatchObject({ outcome: 'noop', reason: 'nothing-ready' })
    expect(answer.messages).toHaveLength(MESSAGES.length - 1)
    expect(answer.new_hash).toBe(answer.base_hash)
  })
  it('refuse labels of interactions that the given history does not have', async () => {
    const response = await post('/v1/compact', { ...body, labels: labels(99), repair: true })
    expect([response.statusCode, response.json().error.code]).toEqual([400, 'request-invalid'])
  })
  it('give the history back as it came when it cannot be repaired', async () => {
    const messages = [use('a'), result('a'), use('b'), result('b')]
    const answer = compactResponse.parse(
      (await post('/v1/compact', { ...body, messages, labels: [], repair: true })).json(),
    )
    expect(answer).toMatchObject({ outcome: 'rejected', reason: 'input-invalid', messages })
    expect(answer.violations?.map(({ rule }) => rule)).toContain('A5')
  })
  it('leave out thinking that the edit makes invalid, and say which', async () => {
    const valid = { format: 'anthropic-messages', messages: [MESSAGES[0], ...MESSAGES.slice(5)], labels: labels(0) }
    const none = compactResponse.parse((await post('/v1/compact', valid)).json())
    expect(JSON.stringify(none.messages)).toContain('sig-c')
    expect(none.stripped_thinking).toBeUndefined()
    for (const more of [{ thinking_binding: 'prefix' }, { model: 'claude-opus-5-5' }]) {
      const bound = compactResponse.parse((await post('/v1/compact', { ...valid, ...more })).json())
      expect(bound).toMatchObject({
        outcome: 'applied',
        stripped_thinking: ['/messages/3/content/0', '/messages/5/content/0'],
      })
      expect(JSON.stringify(bound.messages)).not.toContain('sig-')
    }
    const dropped = {
      thinking: { block_binding: { prefix_mismatch_behavior: 'drop_block' } },
      thinking_binding: 'prefix',
    }
    const left = compactResponse.parse((await post('/v1/compact', { ...valid, ...dropped })).json())
    expect(JSON.stringify(left.messages)).toContain('sig-c')
  })
})
