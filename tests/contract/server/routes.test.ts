import { describe, expect, it } from 'vitest'
import {
  compactResponse,
  infoResponse,
  planResponse,
  scoreResponse,
  validateResponse,
} from '../../../server/wire/responses.schema.ts'
import { AppError } from '../../../src/errors.ts'
import { bodyOf, chatHistory, JSON_HEADERS, serverUnderTest, type UnderTest } from './server-under-test.ts'

async function post(path: string, payload: string | Buffer, parts: UnderTest = {}) {
  const app = await serverUnderTest(parts)
  return app.inject({ method: 'POST', url: path, headers: JSON_HEADERS, payload })
}

describe('POST /v1/score', () => {
  it('scores every target and says why the newest is not eligible', async () => {
    const response = await post('/v1/score', bodyOf(chatHistory(6)), { logitOf: (i) => (i < 4 ? 2 : -2) })
    expect(response.statusCode).toBe(200)
    const score = scoreResponse.parse(response.json())
    expect(score.checkpoint).toBe(6)
    expect(score.interactions.map((item) => item.ready)).toEqual([true, true, true, true, false, false])
    expect(score.interactions.at(-1)).toMatchObject({ eligible: false, reason: 'newest', p: null, logit: null })
    expect(score.interactions[0]?.parts).toEqual([{ message: 2 }, { message: 3 }])
    expect(response.headers['server-timing']).toMatch(/parse;dur=/)
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('never predicts READY at an operating point without a threshold, and says so', async () => {
    const response = await post('/v1/score', bodyOf(chatHistory(6), { operating_point: 'precision' }))
    const score = scoreResponse.parse(response.json())
    expect(score.tau).toBeNull()
    expect(score.interactions.some((item) => item.ready)).toBe(false)
    expect(score.warnings[0]).toContain('never predicts READY')
  })

  it('leaves pinned interactions alone', async () => {
    const response = await post('/v1/score', bodyOf(chatHistory(4), { pins: { call_ids: ['call_1'] } }))
    expect(scoreResponse.parse(response.json()).interactions[1]).toMatchObject({
      eligible: false,
      reason: 'pinned',
      ready: false,
    })
  })
})

describe('POST /v1/plan', () => {
  it('returns spans with every gate and no content', async () => {
    const response = await post('/v1/plan', bodyOf(chatHistory(8)))
    const plan = planResponse.parse(response.json())
    expect(plan.spans).toHaveLength(1)
    expect(plan.spans[0]).toMatchObject({ start: 0, end: 7, accepted: true })
    expect(plan.spans[0]?.gates.map((gate) => gate.name)).toEqual(['length', 'source-tokens', 'shrink'])
    expect(plan.tokens.after).toBeLessThan(plan.tokens.before)
    expect(response.body).not.toContain('line of output')
  })

  it("takes the caller's own labels without asking the router", async () => {
    const labels = [0, 1].map((interaction) => ({ interaction, label: 'READY' }))
    const response = await post('/v1/plan', bodyOf(chatHistory(5), { labels }), {
      score: () => Promise.reject(new AppError('invariant', 'the router was asked')),
    })
    expect(planResponse.parse(response.json()).spans).toMatchObject([{ start: 0, end: 2 }])
  })

  it("counts by the acting model's encoding, and says where that is an estimate", async () => {
    const tokensOf = async (model: string) => (await post('/v1/plan', bodyOf(chatHistory(3), { model }))).json().tokens
    expect(await tokensOf('gpt-4-turbo')).toMatchObject({ encoding: 'cl100k', estimate: false })
    expect(await tokensOf('claude-sonnet-4')).toMatchObject({ encoding: 'o200k', estimate: true })
  })

  it('refuses labels of interactions that are not there', async () => {
    const response = await post('/v1/plan', bodyOf(chatHistory(3), { labels: [{ interaction: 99, label: 'READY' }] }))
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ error: { code: 'request-invalid' } })
  })
})

describe('POST /v1/compact', () => {
  it('replaces a span and leaves every other byte as it came', async () => {
    const history = chatHistory(8)
    const response = await post('/v1/compact', bodyOf(history))
    const result = compactResponse.parse(response.json())
    expect(result.outcome).toBe('applied')
    expect(result.tokens.after).toBeLessThan(result.tokens.before)
    expect(JSON.stringify(result.messages)).toContain('<keepready-summary')
    const untouched = history.slice(
      history.indexOf('{ "role": "assistant"', history.indexOf('file 6:')),
      history.lastIndexOf(',\n{"role":"user"'),
    )
    expect(untouched).toContain('12345678901234567890')
    for (const message of untouched.split(/,\n(?=\{"role":"tool")/)) expect(response.body).toContain(message)
  })

  it('gives the history back byte for byte when nothing is ready', async () => {
    const history = chatHistory(5)
    const response = await post('/v1/compact', bodyOf(history), { logitOf: () => -9 })
    const result = compactResponse.parse(response.json())
    expect(result).toMatchObject({ outcome: 'noop', reason: 'nothing-ready' })
    expect(result.new_hash).toBe(result.base_hash)
    for (const message of history.slice(1, -1).split(/,\n(?=\{)/)) expect(response.body).toContain(message)
  })

  it.each([
    ['deadline-exceeded', 'noop', 'deadline'],
    ['host-crashed', 'failed', 'inference-failed'],
    ['output-not-finite', 'failed', 'inference-failed'],
    ['invariant', 'failed', 'internal'],
  ] as const)('turns %s into the outcome %s (%s) with the history unchanged', async (code, outcome, reason) => {
    const history = chatHistory(5)
    const response = await post('/v1/compact', bodyOf(history), {
      score: () => Promise.reject(new AppError(code, 'broken')),
    })
    expect(response.statusCode).toBe(200)
    const result = compactResponse.parse(response.json())
    expect(result).toMatchObject({ outcome, reason })
    expect(result.messages).toEqual(JSON.parse(history))
  })

  it('says no-operating-point where no threshold was precise enough', async () => {
    const response = await post('/v1/compact', bodyOf(chatHistory(6), { operating_point: 'precision' }))
    expect(compactResponse.parse(response.json())).toMatchObject({ outcome: 'noop', reason: 'no-operating-point' })
  })

  it('refuses labels of interactions that are not there instead of calling it its own failure', async () => {
    const labels = [{ interaction: 99, label: 'READY' }]
    const response = await post('/v1/compact', bodyOf(chatHistory(3), { labels }))
    expect([response.statusCode, response.json().error.code]).toEqual([400, 'request-invalid'])
  })

  it('rejects a history that its provider would reject, with every violation, without asking the model', async () => {
    const orphan =
      '[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"nobody","content":"x"},{"role":"user","content":"?"}]'
    const response = await post('/v1/compact', bodyOf(orphan), {
      score: () => Promise.reject(new AppError('invariant', 'asked')),
    })
    const result = compactResponse.parse(response.json())
    expect(result).toMatchObject({ outcome: 'rejected', reason: 'input-invalid' })
    expect(result.violations?.length).toBeGreaterThan(0)
    expect(result.messages).toEqual(JSON.parse(orphan))
  })
})

describe('POST /v1/validate', () => {
  it('lists violations with JSON pointers', async () => {
    const orphan = '[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"nobody","content":"x"}]'
    const result = validateResponse.parse((await post('/v1/validate', bodyOf(orphan))).json())
    expect(result.valid).toBe(false)
    expect(result.violations[0]?.pointer).toMatch(/^\/messages\/1/)
  })
})

describe('errors', () => {
  it.each([
    ['a body that is not JSON', '{"format":', 400, 'request-invalid'],
    ['an empty body', '', 400, 'request-invalid'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400, 'request-invalid'],
    ['an unknown format', bodyOf('[{}]', { format: 'morse' }), 400, 'request-invalid'],
    ['messages that are no list', '{"format":"openai-chat","messages":3}', 400, 'request-invalid'],
    ['messages of another shape', bodyOf('[{"role":3}]'), 400, 'history-malformed'],
    ['a history with no complete interaction', bodyOf('[{"role":"user","content":"hi"}]'), 422, 'history-incomplete'],
  ])('answers %s by name', async (_what, payload, status, code) => {
    const response = await post('/v1/score', payload)
    expect([response.statusCode, response.json().error.code]).toEqual([status, code])
  })

  it('answers a body over the limit with 413 and the limit', async () => {
    const response = await post('/v1/score', bodyOf(chatHistory(20)), { flags: { maxBodyBytes: 1000 } })
    expect([response.statusCode, response.json().error.code]).toEqual([413, 'body-too-large'])
    expect(response.json().error.message).toContain('1000')
  })

  it('answers an unknown route with 404', async () => {
    const app = await serverUnderTest()
    const response = await app.inject({ method: 'GET', url: '/v2/score', headers: JSON_HEADERS })
    expect([response.statusCode, response.json().error.code]).toEqual([404, 'route-not-found'])
  })

  it('tells a client to retry when the queue is full', async () => {
    const full = new AppError('queue-full', 'full', { details: { retryAfterSeconds: 7 } })
    const response = await post('/v1/score', bodyOf(chatHistory(4)), { score: () => Promise.reject(full) })
    expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '7'])
  })

  it('keeps our own bugs inside: no message or stack to the client, the place alone to the log', async () => {
    const logLines: string[] = []
    const response = await post('/v1/score', bodyOf(chatHistory(4)), {
      score: () => Promise.reject(new TypeError('secret words of a history')),
      logLines,
    })
    expect(logLines.join('')).toMatch(/"code":"invariant","frames":\["at .*routes\.test\.ts/)
    expect(logLines.join('')).not.toContain('secret words')
    expect(response.statusCode).toBe(500)
    expect(response.body).not.toContain('secret words')
    expect(response.body).not.toContain('.ts:')
    expect(response.json().error.request_id).toBe(response.headers['x-request-id'])
  })

  it('ends a call at its deadline with 503', async () => {
    const response = await post('/v1/score', bodyOf(chatHistory(4)), {
      flags: { deadlineMs: 30 },
      score: ({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    expect([response.statusCode, response.json().error.code]).toEqual([503, 'deadline-exceeded'])
  })

  it('writes no history text to the log', async () => {
    const logLines: string[] = []
    await post('/v1/compact', bodyOf(chatHistory(6)), { logLines })
    await post('/v1/score', '{"format":"openai-chat","messages":[{"role":"user","content":"line of output', {
      logLines,
    })
    expect(logLines.length).toBeGreaterThan(0)
    expect(logLines.join('')).not.toContain('line of output')
  })
})

describe('status routes', () => {
  it('describe the server and pass their own schema', async () => {
    const app = await serverUnderTest()
    infoResponse.parse((await app.inject({ url: '/info', headers: JSON_HEADERS })).json())
    expect((await app.inject({ url: '/livez' })).json()).toEqual({ status: 'ok' })
    const metrics = await app.inject({ url: '/metrics', headers: JSON_HEADERS })
    expect(metrics.body).toContain('keepready_queue_tokens 0')
    for (const name of ['hits_total', 'misses_total', 'saved_tokens_total', 'bytes'])
      expect(metrics.body).toContain(`keepready_prefix_cache_${name} 0`)
  })

  it('say 503 while the model starts or the server drains', async () => {
    for (const status of ['starting', 'draining'] as const) {
      const app = await serverUnderTest({ status: () => status })
      const response = await app.inject({ url: '/readyz' })
      expect([response.statusCode, response.json()]).toEqual([503, { status }])
    }
  })

  it('publish OpenAPI 3.1 with every route and its error', async () => {
    const app = await serverUnderTest()
    const api = (await app.inject({ url: '/openapi.json', headers: JSON_HEADERS })).json()
    expect(api.openapi).toBe('3.1.0')
    expect(Object.keys(api.paths).sort()).toEqual([
      '/info',
      '/livez',
      '/readyz',
      '/v1/compact',
      '/v1/plan',
      '/v1/score',
      '/v1/validate',
    ])
    expect(api.paths['/v1/plan'].post.requestBody.content['application/json'].schema.properties.format.enum).toContain(
      'openai-chat',
    )
    expect(Object.keys(api.paths['/v1/plan'].post.responses)).toEqual(expect.arrayContaining(['200', '4XX', '5XX']))
  })
})
