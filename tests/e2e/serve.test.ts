/**
 * The whole server over real HTTP: history thread, supervised model process, a real router on models/tiny. `npm test`
 * builds dist first.
 */

import { once } from 'node:events'
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { embeddedModelDirectory } from '../../models/model-directory.ts'
import { parseServerConfig } from '../../server/config.schema.ts'
import { type RunningServer, startServer } from '../../server/main.ts'
import { compactResponse, errorResponse, planResponse, scoreResponse } from '../../server/wire/responses.schema.ts'
import { type ChatLog, makeChatLogs, requestBody } from '../fixtures/chat-logs.ts'
import { runCommand, startCommand } from '../fixtures/run-command.ts'
import { trainTinyRouter } from '../fixtures/train-tiny-router.ts'
import { until } from '../fixtures/until.ts'

/** Wide enough views that a long history keeps the model busy for seconds. */
const VIEW_BUDGET = 512

let router: string
let server: RunningServer

function start(flags: Readonly<Record<string, unknown>> = {}): Promise<RunningServer> {
  return startServer({
    config: parseServerConfig({
      flags: { router, port: 0, operatingPoint: 'f1', ...flags },
      environment: {},
      file: {},
    }),
    logger: pino({ level: 'silent' }),
    nowMs: () => performance.now(),
    version: '0.0.0',
    caches: { hub: '/nowhere', keepready: '/nowhere' },
  })
}

function post(path: string, body: string, options: { url?: string; signal?: AbortSignal } = {}): Promise<Response> {
  return fetch(`${options.url ?? server.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
}

/** The status, once the whole answer has been read: an unread answer holds its connection. */
async function statusOf(response: Promise<Response>): Promise<number> {
  const { status } = await response.then(async (answer) => ({ status: answer.status, body: await answer.text() }))
  return status
}

/** Of each format one; another seed is another text, which the model has not seen. */
function logsOf(seed: number, steps: number, words = 120): { readonly chat: ChatLog; readonly messages: ChatLog } {
  const [chat, messages] = makeChatLogs({ groups: 2, runsPerGroup: 1, steps, seed, words })
  if (chat === undefined || messages === undefined) throw new Error('two logs were asked for')
  return { chat, messages }
}

/** Some seconds of work for the model. */
function longBody(seed: number, steps = 300): string {
  return requestBody(logsOf(seed, steps, 300).chat)
}

async function errorCode(response: Response): Promise<string> {
  return errorResponse.parse(await response.json()).error.code
}

/** The request is in the model's process, or in line for it. */
function busy(): Promise<void> {
  return until(() => server.status().queuedTokens > 0)
}

beforeAll(async () => {
  router = (await trainTinyRouter({ inputs: 'hidden+evidence', viewBudget: VIEW_BUDGET })).directory
  server = await start()
}, 240_000)
afterAll(() => server.close())

describe.each(['chat', 'messages'] as const)('a history of %s', (kind) => {
  const log = logsOf(1, 14)[kind]
  const limits = { min_span_interactions: 1, min_source_tokens: 100 }

  it('is scored and planned by the model', async () => {
    const score = scoreResponse.parse(await (await post('/v1/score', requestBody(log))).json())
    expect(score.representation_id).toBe(server.info.representation_id)
    const scored = score.interactions.filter((item) => item.p !== null)
    expect(scored).toHaveLength(score.interactions.length - 1)
    expect(new Set(scored.map((item) => item.p)).size).toBeGreaterThan(5)
    const plan = planResponse.parse(await (await post('/v1/plan', requestBody(log, undefined, { limits }))).json())
    const ready = score.interactions.filter((item) => item.ready).map((item) => item.interaction)
    expect(plan.base_hash).toBe(score.base_hash)
    expect(plan.spans.flatMap(({ start, end }) => range(start, end))).toEqual(ready)
  })

  it('leaves /v1/compact byte for byte where it was not replaced', async () => {
    const score = scoreResponse.parse(await (await post('/v1/score', requestBody(log))).json())
    const response = await post('/v1/compact', requestBody(log, undefined, { limits }))
    const text = await response.text()
    const result = compactResponse.parse(JSON.parse(text))
    expect(result.outcome).toBe('applied')
    expect(result.tokens.after).toBeLessThan(result.tokens.before)
    const replaced = new Set(
      result.spans.filter((span) => span.accepted).flatMap(({ start, end }) => range(start, end)),
    )
    const gone = new Set(
      score.interactions
        .filter((item) => replaced.has(item.interaction))
        .flatMap((item) => item.parts.filter((part) => part.blocks === undefined).map((part) => part.message)),
    )
    let from = 0
    for (const [index, message] of log.messages.entries()) {
      if (gone.has(index) || isSplit(score, replaced, index)) continue
      const at = text.indexOf(message, from)
      expect(at, `message ${index}: ${message.slice(0, 80)}`).toBeGreaterThanOrEqual(from)
      from = at + message.length
    }
    expect(text).toContain(kind === 'chat' ? '"x_cost": 1.0' : '12345678901234567890')
    if (kind === 'chat') expect(text).toMatch(/"10":1, "9":2 \}.*\\ud83d\\udfe1/s)
  })

  it('comes back whole when nothing is replaced', async () => {
    const response = await post('/v1/compact', requestBody(log, undefined, { operating_point: 'precision' }))
    const text = await response.text()
    expect(compactResponse.parse(JSON.parse(text))).toMatchObject({ outcome: 'noop', reason: 'no-operating-point' })
    let from = 0
    for (const message of log.messages) {
      from = text.indexOf(message, from)
      expect(from, message.slice(0, 80)).toBeGreaterThan(0)
    }
  })
})

function range(start: number, end: number): readonly number[] {
  return Array.from({ length: end - start }, (_, i) => start + i)
}

/** A message of which some blocks were replaced and others stay (results and a person's words in one message). */
function isSplit(
  score: ReturnType<typeof scoreResponse.parse>,
  replaced: ReadonlySet<number>,
  message: number,
): boolean {
  return score.interactions.some(
    (item) =>
      replaced.has(item.interaction) &&
      item.parts.some((part) => part.message === message && part.blocks !== undefined),
  )
}

describe('while the model works', () => {
  it('the event loop stays free: a 5 ms timer fires at least 50 times in a score of 2 s or more', async () => {
    let tookMs = 0
    for (let steps = 200; tookMs < 2000; steps *= 2) {
      let ticks = 0
      const timer = setInterval(() => ticks++, 5)
      const startMs = performance.now()
      const scoring = post('/v1/score', longBody(steps, steps))
      await busy()
      const liveStartMs = performance.now()
      expect(await statusOf(fetch(`${server.url}/livez`))).toBe(200)
      const liveMs = performance.now() - liveStartMs
      expect(await statusOf(scoring)).toBe(200)
      tookMs = performance.now() - startMs
      clearInterval(timer)
      if (tookMs < 2000) continue
      expect(ticks).toBeGreaterThanOrEqual(50)
      expect(liveMs).toBeLessThan(tookMs / 2)
    }
  })

  it('a killed model loses no history: compact fails with it unchanged, score says 503, the next call succeeds', async () => {
    for (const path of ['/v1/compact', '/v1/score']) {
      const body = longBody(path.length)
      const restarts = server.status().restarts
      const answered = post(path, body)
      await busy()
      process.kill(server.status().modelProcess ?? Number.NaN, 'SIGKILL')
      const response = await answered
      const text = await response.text()
      if (path === '/v1/compact') {
        const result = compactResponse.parse(JSON.parse(text))
        expect(result).toMatchObject({ outcome: 'failed', reason: 'inference-failed', spans: [] })
        expect(result.new_hash).toBe(result.base_hash)
        expect(text).toContain(
          body
            .slice(body.indexOf('"messages":[') + 12, -2)
            .split(',\n ')
            .join(','),
        )
      } else {
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
        expect(JSON.parse(text).error.code).toBe('host-crashed')
      }
      expect(await statusOf(post('/v1/score', requestBody(logsOf(2, 6).chat)))).toBe(200)
      expect(server.status().restarts).toBe(restarts + 1)
    }
  })

  it('a client that leaves takes its work with it, running or waiting', async () => {
    const tokens = server.status().computedTokens
    const clients = [new AbortController(), new AbortController()]
    const gone: Promise<unknown>[] = []
    for (const [n, client] of clients.entries()) {
      gone.push(post('/v1/score', longBody(30 + n), { signal: client.signal }).catch((error: Error) => error.name))
      await until(() => server.status().queuedTokens > 0 && server.status().waiting === n)
    }
    clients[1]?.abort()
    await until(() => server.status().waiting === 0)
    expect(server.status().queuedTokens).toBeGreaterThan(0)
    clients[0]?.abort()
    await until(() => server.status().queuedTokens === 0)
    expect(await Promise.all(gone)).toEqual(['AbortError', 'AbortError'])
    expect(server.status().computedTokens).toBe(tokens)
    expect(await statusOf(post('/v1/score', requestBody(logsOf(3, 6).chat)))).toBe(200)
  })
})

describe('limits', () => {
  it('answers 429 with Retry-After when the queue is full, and 503 past the deadline', async () => {
    const small = await start({ maxQueueTokens: 5000, deadlineMs: 2000 })
    try {
      const first = post('/v1/score', longBody(40, 1000), { url: small.url })
      await until(() => small.status().queuedTokens > 0)
      const second = await post('/v1/score', requestBody(logsOf(4, 6).chat), { url: small.url })
      expect([second.status, await errorCode(second)]).toEqual([429, 'queue-full'])
      expect(Number(second.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      const late = await first
      expect([late.status, await errorCode(late)]).toEqual([503, 'deadline-exceeded'])
    } finally {
      await small.close()
    }
  })

  it('stops although one client does not read its answer and another only connected', async () => {
    const small = await start({ drainMs: 100 })
    const port = Number(new URL(small.url).port)
    const idle = connect(port, '127.0.0.1')
    const client = connect(port, '127.0.0.1')
    const body = requestBody(logsOf(5, 50, 20_000).chat, undefined, { labels: [] })
    client.write(
      `POST /v1/compact HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    await once(client, 'readable')
    const startMs = performance.now()
    await small.close()
    expect(performance.now() - startMs).toBeLessThan(10_000)
    idle.destroy()
    client.destroy()
  })

  it('names a port that is in use and leaves nothing running', async () => {
    const port = new URL(server.url).port
    await expect(start({ port })).rejects.toMatchObject({ code: 'port-in-use', message: expect.stringContaining(port) })
    expect(await statusOf(fetch(`${server.url}/livez`))).toBe(200)
  })
})

describe('another model than the router was trained on', () => {
  it('is refused by name before the server listens', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keepready-other-model-'))
    try {
      cpSync(embeddedModelDirectory(), folder, { recursive: true })
      appendFileSync(join(folder, 'config.json'), '\n')
      await expect(start({ model: folder })).rejects.toMatchObject({
        code: 'representation-mismatch',
        message: expect.stringContaining('model files'),
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a memory budget', () => {
  it('that the model cannot keep is refused by name before the server listens', async () => {
    await expect(start({ memoryMb: 100 })).rejects.toMatchObject({
      code: 'memory-budget-too-small',
      message: expect.stringMatching(/need \d+ MB .* --memory-mb allows 100/),
    })
  })
})

describe('keepready serve', () => {
  it('ends accepted work on SIGTERM, then exits with 0', async () => {
    const running = startCommand(['serve', '--router', router, '--port', '0', '--log-level', 'silent'])
    const address = /listens on (http:\S+)/
    await until(() => address.test(running.stderr()))
    const url = running.stderr().match(address)?.[1] ?? ''
    expect(running.stderr()).toMatch(/^memory: at most \d+ MB in the process of the model \(program .*listens on/s)
    const answered = post('/v1/score', longBody(50, 100), { url })
    const queued = async (): Promise<boolean> =>
      !(await (await fetch(`${url}/metrics`)).text()).includes('keepready_queue_tokens 0')
    while (!(await queued()));
    running.child.kill('SIGTERM')
    expect(await statusOf(answered)).toBe(200)
    expect(await running.finished).toMatchObject({ code: 0, stdout: '' })
  })

  it('refuses to listen beyond this machine without a token', async () => {
    const refused = await runCommand(['serve', '--router', router, '--host', '0.0.0.0'])
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toMatch(/0\.0\.0\.0 without a token.*--token-file.*\[listen-refused\]\n$/)
  })
})
