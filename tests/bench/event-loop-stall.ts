/**
 * How long the server's event loop stands still for one large history: in the history thread as served, and for
 * comparison with the same work on the loop itself.
 *   npm run build && npx tsx tests/bench/event-loop-stall.ts [history.json FORMAT]
 * Without arguments a made Anthropic history of 2 MB. The router reads evidence alone, so that nothing waits for a model.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startWorkerExtractor } from '../../models/frozen-lm/worker-extractor.ts'
import { answerCall, type HistoryAnswer } from '../../server/answer-call.ts'
import { createHistoryService } from '../../server/history-service.ts'
import { startHistoryThread } from '../../server/history-thread/history-thread.ts'
import { openReadiness } from '../../server/open-readiness.ts'
import type { HistoryCallKind } from '../../server/wire/routes.schema.ts'
import { makeChatLogs, requestBody } from '../fixtures/chat-logs.ts'
import { trainTinyRouter } from '../fixtures/train-tiny-router.ts'

const ROUNDS = 3
/** The embedded model needs none. */
const NO_CACHES = { hub: '/nowhere', keepready: '/nowhere' }

async function main([path, format]: readonly string[]): Promise<void> {
  const body = Buffer.from(path === undefined ? madeHistory() : withFormat(readFileSync(path, 'utf8'), format))
  const { directory } = await trainTinyRouter({ inputs: 'evidence' })
  const thread = await startHistoryThread({
    router: directory,
    model: null,
    operatingPoint: 'f1',
    maxQueueTokens: 1e9,
    prefixCacheMb: 0,
    device: 'cpu',
    weights: 'auto',
    memoryMb: null,
    caches: NO_CACHES,
  })
  const readiness = await openReadiness({
    routerDirectory: directory,
    model: null,
    operatingPoint: 'f1',
    maxQueueTokens: 1e9,
    startExtractor: startWorkerExtractor,
    nowMs: () => performance.now(),
    onExtraction: () => undefined,
    onNote: () => undefined,
    caches: NO_CACHES,
  })
  const parts = {
    service: createHistoryService(readiness.model),
    representationId: null,
    nowMs: () => performance.now(),
  }
  const signal = new AbortController().signal
  const ask = {
    'on the event loop': (kind: HistoryCallKind) => answerCall(parts, { kind, body, signal }),
    'in the history thread': (kind: HistoryCallKind) => thread.answer({ kind, body, signal }),
  }
  const figures = []
  for (const kind of ['score', 'compact'] as const)
    for (const [where, answer] of Object.entries(ask)) {
      const measured: Measured[] = []
      for (let round = 0; round < ROUNDS; round++) measured.push(await measure(() => answer(kind)))
      const { stallMs, tookMs } = median(measured)
      console.log(`${kind} ${where}: longest stall ${stallMs.toFixed(0)} ms of ${tookMs.toFixed(0)} ms`)
      figures.push({ name: `${kind} ${where}`, value: Math.round(stallMs), unit: 'ms' })
    }
  await thread.close()
  await readiness.close()
  console.log(JSON.stringify({ bench: 'event-loop-stall', sizeBytes: body.length, rounds: ROUNDS, figures }))
}

interface Measured {
  readonly stallMs: number
  readonly tookMs: number
}

/** The longest gap between two turns of the loop while the answer is made. */
async function measure(answer: () => Promise<HistoryAnswer>): Promise<Measured> {
  let last = performance.now()
  let stallMs = 0
  const timer = setInterval(() => {
    const now = performance.now()
    stallMs = Math.max(stallMs, now - last)
    last = now
  }, 1)
  await sleep(50)
  stallMs = 0
  last = performance.now()
  const startMs = last
  await answer()
  await sleep(5)
  clearInterval(timer)
  return { stallMs, tookMs: performance.now() - startMs }
}

function median(measured: readonly Measured[]): Measured {
  const sorted = [...measured].sort((a, b) => a.stallMs - b.stallMs)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new Error('nothing was measured')
  return middle
}

function madeHistory(): string {
  const [, log] = makeChatLogs({ groups: 2, runsPerGroup: 1, steps: 400, seed: 3, words: 900 })
  if (log === undefined) throw new Error('two logs were asked for')
  return requestBody(log)
}

function withFormat(text: string, format = 'anthropic-messages'): string {
  return text.startsWith('[')
    ? `{"format":"${format}","messages":${text}}`
    : text.replace('{', `{"format":"${format}",`)
}

await main(process.argv.slice(2))
process.exit(0)
