import { afterEach, describe, expect, it } from 'vitest'
import { parseEndpoint } from '../../../../models/chat/endpoint.ts'
import { createOpenAiChat, type OpenAiChatOptions } from '../../../../models/chat/open-ai-chat.ts'
import type { ChatReply, ChatRequest } from '../../../../models/chat/port.ts'
import { AppError } from '../../../../src/errors.ts'
import { createRng } from '../../../../src/rng.ts'
import { createFakeChatClock } from '../../../fakes/fake-chat-clock.ts'
import {
  after,
  type Behaviour,
  type ChatServer,
  callsTool,
  cutAfter,
  endless,
  endsAfter,
  inTurn,
  raw,
  refuses,
  type SeenRequest,
  says,
  silent,
  stallsAfter,
  startChatServer,
  status,
} from '../../../fixtures/chat-server.ts'
import { until } from '../../../fixtures/until.ts'

const REQUEST: ChatRequest = {
  messages: [{ role: 'user', content: 'Is it ready?' }],
  maxOutputTokens: 50,
  temperature: 0,
  answer: { name: 'verdict', schema: { type: 'object' } },
}
const KEY = 'sk-not-to-be-told'

let server: ChatServer | null = null
const clock = createFakeChatClock()

afterEach(async () => {
  await server?.close()
  server = null
})

async function serve(script: (request: SeenRequest) => Behaviour): Promise<ChatServer> {
  server = await startChatServer(script)
  return server
}

type ChatSettings = Omit<Partial<OpenAiChatOptions>, 'endpoint'>

function chatWith(at: ChatServer, more: ChatSettings = {}): ReturnType<typeof createOpenAiChat> {
  const endpoint = parseEndpoint(at.url)
  return createOpenAiChat({ endpoint, model: 'm', apiKey: KEY, rng: createRng(1), clock, ...more })
}

async function ask(script: (request: SeenRequest) => Behaviour, more: ChatSettings = {}): Promise<ChatReply> {
  return chatWith(await serve(script), more).ask(REQUEST)
}

const QUICK = { responseMs: 60, idleMs: 60, wholeMs: 5_000 }

describe('a chat request', () => {
  it('is streamed with the key in a header, the schema and the bounds', async () => {
    const reply = await ask(() => says('yes, "ready" \u{1f7e2}'))
    expect(reply).toEqual({
      outcome: { kind: 'text', text: 'yes, "ready" \u{1f7e2}' },
      usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10 },
      retries: 0,
      lost: [],
    })
    const [seen] = server?.requests ?? []
    expect(seen?.path).toBe('/v1/chat/completions')
    expect(seen?.headers.authorization).toBe(`Bearer ${KEY}`)
    expect(seen?.body).toEqual({
      model: 'm',
      messages: REQUEST.messages,
      max_tokens: 50,
      temperature: 0,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'verdict', strict: true, schema: { type: 'object' } },
      },
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  it('may be answered whole, asked for or not', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } }
    const plain = says('ok', { usage })
    expect(await ask(() => plain, { stream: false })).toMatchObject({
      outcome: { kind: 'text', text: 'ok' },
      usage: { promptTokens: 9, cachedTokens: 4, outputTokens: 2 },
    })
    const unstreamed: Behaviour = (request, response) =>
      plain({ ...request, body: { ...request.body, stream: false } }, response)
    await server?.close()
    expect((await ask(() => unstreamed)).outcome).toEqual({ kind: 'text', text: 'ok' })
  })

  it('has no usage where the server tells none, and no key where there is none', async () => {
    const reply = await ask(() => says('ok', { usage: null }), { apiKey: null })
    expect(reply.usage).toBeNull()
    expect(server?.requests[0]?.headers.authorization).toBeUndefined()
  })
})

describe('the outcome', () => {
  it.each([
    ['refusal', refuses('I cannot.'), { kind: 'refusal', text: 'I cannot.' }],
    ['filter', says('', { finish: 'content_filter' }), { kind: 'refusal', text: '' }],
    ['length', says('half an ans', { finish: 'length' }), { kind: 'max-tokens', text: 'half an ans' }],
    ['tools', callsTool('bash'), { kind: 'tool-call', names: ['bash'] }],
    ['no text', says(''), { kind: 'text', text: '' }],
    ['413', status(413), { kind: 'too-long', message: '(made_in_a_test)' }],
    [
      'context',
      status(400, "This model's maximum context length is 8192 tokens."),
      { kind: 'too-long', message: "This model's maximum context length is 8192 tokens. (made_in_a_test)" },
    ],
  ] as const)('of %s is named, streamed or whole', async (_, behaviour, outcome) => {
    expect((await ask(() => behaviour)).outcome).toEqual(outcome)
    await server?.close()
    expect((await ask(() => behaviour, { stream: false })).outcome).toEqual(outcome)
    expect(server?.requests).toHaveLength(1)
  })
})

describe('a parameter the server refuses', () => {
  it('is left out, and stays out once that worked', async () => {
    const at = await serve(({ body }) => {
      if ('max_tokens' in body) return status(400, "Unsupported parameter: use 'max_completion_tokens' instead.")
      if ('temperature' in body) return status(400, "'temperature' does not support 0 with this model.")
      return 'response_format' in body ? status(422, 'extra field') : says('{}')
    })
    const chat = chatWith(at)
    expect((await chat.ask(REQUEST)).outcome.kind).toBe('text')
    expect(at.requests.map(({ body }) => Object.keys(body).length)).toEqual([7, 7, 6, 6, 5])
    expect((await chat.ask(REQUEST)).retries).toBe(0)
    expect(at.requests).toHaveLength(6)
  })

  it('ends in a rejection with the words of the server when leaving out does not help', async () => {
    const reply = await ask(() => status(400, `no ${KEY} today`))
    expect(reply.outcome).toEqual({ kind: 'rejected', status: 400, message: 'no [key] today (made_in_a_test)' })
    expect(server?.requests).toHaveLength(3)
  })
})

describe('a failed attempt', () => {
  it.each([
    ['a rate limit', status(429)],
    ['a server error', status(503)],
    ['a cut connection', cutAfter('{"rec')],
    ['a stream that just ends', endsAfter('{"rec')],
    ['an error in the stream', raw('data: {"error":{"message":"overloaded"}}\n\n', 'text/event-stream')],
    ['a body that is no completion', raw('<html>bad gateway</html>')],
  ] as const)('by %s is tried again', async (_, behaviour) => {
    const reply = await ask(inTurn(behaviour, says('ok')))
    expect(reply).toMatchObject({ outcome: { kind: 'text', text: 'ok' }, retries: 1 })
  })

  it('counts as lost when the answer had begun', async () => {
    const reply = await ask(inTurn(cutAfter('{"rec'), status(500), endsAfter('abc'), says('ok')))
    expect(reply.lost).toEqual([{ chars: 5 }, { chars: 3 }])
  })

  it('holds back all calls while the server wants a pause', async () => {
    const at = await serve(inTurn(status(429, '', { 'retry-after': '17' }), says('ok')))
    const wake: (() => void)[] = []
    let nowMs = 0
    const slow = { nowMs: () => nowMs, sleep: () => new Promise<void>((resolve) => wake.push(resolve)) }
    const chat = chatWith(at, { clock: slow })
    const first = chat.ask(REQUEST)
    await until(() => wake.length === 1)
    const second = chat.ask(REQUEST)
    await until(() => wake.length === 2)
    expect(at.requests).toHaveLength(1)
    nowMs = 20_000
    for (const resume of wake) resume()
    expect((await Promise.all([first, second])).map(({ outcome }) => outcome.kind)).toEqual(['text', 'text'])
    expect(at.requests).toHaveLength(3)
  })

  it('waits as long as the server says', async () => {
    const own = createFakeChatClock()
    await ask(inTurn(status(429, '', { 'retry-after': '17' }), says('ok')), { clock: own })
    expect(own.sleeps[0]).toBeGreaterThanOrEqual(17_000)
    expect(own.sleeps[0]).toBeLessThan(18_001)
  })

  it('is not tried again when the server wants too long a pause', async () => {
    const reply = await ask(() => status(429, 'slow down', { 'retry-after': '4000' }))
    expect(reply.outcome).toMatchObject({ kind: 'unanswered', reason: 'rate-limited' })
    expect(server?.requests).toHaveLength(1)
  })

  it('by silence before or inside the answer is a timeout', async () => {
    const retry = { maxRetries: 1, baseDelayMs: 1, maxDelayMs: 1, maxRetryAfterMs: 1 }
    const reply = await ask(inTurn(silent, stallsAfter('{"re')), { timeouts: QUICK, retry })
    expect(reply.outcome).toMatchObject({ kind: 'unanswered', reason: 'timeout' })
    expect(reply.lost).toEqual([{ chars: 4 }])
    expect(server?.requests).toHaveLength(2)
  })

  it('by a body that does not end stops at a limit, and is tried once more only', async () => {
    const reply = await ask(() => endless)
    expect(reply.outcome).toMatchObject({ kind: 'unanswered', reason: 'malformed', message: /longer than/ })
    expect(server?.requests).toHaveLength(2)
  })

  it('of a slow server is none', async () => {
    expect((await ask(() => after(120, says('late')))).outcome).toEqual({ kind: 'text', text: 'late' })
  })

  it('where nobody listens gives up soon', async () => {
    const at = await serve(() => silent)
    await at.close()
    const reply = await chatWith(at).ask(REQUEST)
    expect(reply.outcome).toMatchObject({ kind: 'unanswered', reason: 'connection', message: /ECONNREFUSED/ })
    expect(reply.retries).toBe(2)
  })
})

describe('what no request can pass', () => {
  it.each([
    [401, 'wrong key', /check the API key/],
    [404, 'no such model', /check the base URL/],
    [429, 'You exceeded your current quota', /check the account/],
  ] as const)('HTTP %d is an error at once, without the key in it', async (code, message, next) => {
    const failed = await ask(() => status(code, `${message} ${KEY}`)).catch((thrown: unknown) => thrown)
    expect(failed).toMatchObject({ code: 'endpoint-refused', message: expect.stringMatching(next) })
    expect(String(failed)).not.toContain(KEY)
    expect(server?.requests).toHaveLength(1)
  })

  it('a redirect is not followed: the text goes where it was said to go', async () => {
    const other = await startChatServer(() => says('mine now'))
    const moved = ask(() => status(307, '', { location: `${other.url}/chat/completions` }))
    await expect(moved).rejects.toMatchObject({ code: 'endpoint-refused', message: expect.stringContaining(other.url) })
    expect(other.requests).toHaveLength(0)
    await other.close()
  })
})

describe('an abort', () => {
  it('ends a call in the middle of its answer with the reason of the signal', async () => {
    const at = await serve(() => stallsAfter('{"re'))
    const abort = new AbortController()
    const call = chatWith(at).ask(REQUEST, abort.signal)
    setTimeout(() => abort.abort(new AppError('interrupted', 'enough')), 50)
    await expect(call).rejects.toMatchObject({ code: 'interrupted', message: 'enough' })
    await expect(chatWith(at).ask(REQUEST, abort.signal)).rejects.toMatchObject({ code: 'interrupted' })
    expect(at.requests).toHaveLength(1)
  })
})
