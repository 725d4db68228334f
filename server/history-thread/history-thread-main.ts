/**
 * Entry of the history thread: router, queue, history service and the supervised model process. Reading a history of
 * some MB, counting its tokens and planning take seconds of CPU (README.md); they take them here, not on the event loop.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { prefixCacheBytes } from '../../models/frozen-lm/prefix-cache.ts'
import { startSupervisedExtractor, VECTOR_CACHE_BYTES } from '../../models/frozen-lm/supervised-host.ts'
import { AppError, invariant } from '../../src/errors.ts'
import { answerCall, type CallParts, type HistoryCall } from '../answer-call.ts'
import { executionOf } from '../config.schema.ts'
import { describeRouter } from '../describe-router.ts'
import { createHistoryService } from '../history-service.ts'
import { openReadiness } from '../open-readiness.ts'
import {
  type FromThread,
  fromThreadError,
  type ThreadOptions,
  type ThreadStatus,
  type ToThread,
  toThreadError,
} from './thread-protocol.ts'

/** How old a status may be that no call has changed: a model process that restarts shows after this long. */
const STATUS_MS = 100

const port = invariant(parentPort, 'history-thread-main runs in a worker thread')
const post = (message: FromThread, transfer: readonly ArrayBuffer[] = []): void => port.postMessage(message, transfer)
const nowMs = (): number => performance.now()

async function open(options: ThreadOptions): Promise<void> {
  const counts = { computedTokens: 0, prefixHits: 0, prefixMisses: 0, prefixSavedTokens: 0, prefixBytes: 0 }
  const readiness = await openReadiness({
    routerDirectory: options.router,
    model: options.model,
    operatingPoint: options.operatingPoint,
    maxQueueTokens: options.maxQueueTokens,
    execution: executionOf(options),
    cacheBytes: {
      vectorCacheBytes: VECTOR_CACHE_BYTES,
      prefixCacheBytes: prefixCacheBytes(options.prefixCacheMb),
    },
    caches: options.caches,
    startExtractor: startSupervisedExtractor,
    nowMs,
    onNote: (text) => post({ kind: 'note', text }),
    onExtraction: ({ computedTokens, prefixCache }) => {
      counts.computedTokens += computedTokens
      counts.prefixHits += prefixCache.hits
      counts.prefixMisses += prefixCache.misses
      counts.prefixSavedTokens += prefixCache.savedTokens
      counts.prefixBytes = prefixCache.sizeBytes
    },
  })
  const { extractor, queue } = readiness
  const router = describeRouter(readiness.router.manifest)
  const parts: CallParts = {
    service: createHistoryService(readiness.model),
    representationId: router.representation_id,
    nowMs,
  }
  const status = (): ThreadStatus => ({
    ready: extractor?.ready ?? true,
    modelProcess: extractor?.pid ?? null,
    restarts: extractor?.restarts ?? 0,
    waiting: queue.status().waiting,
    queuedTokens: queue.status().tokens,
    ...counts,
  })
  let posted = ''
  const postStatus = (): void => {
    const now = status()
    const text = JSON.stringify(now)
    if (text !== posted) post({ kind: 'status', status: now })
    posted = text
  }
  const statusTimer = setInterval(postStatus, STATUS_MS)
  const calls = new Map<number, AbortController>()

  const answer = async ({ id, call, body }: Extract<ToThread, { kind: 'call' }>): Promise<void> => {
    const controller = new AbortController()
    calls.set(id, controller)
    const [message, transfer] = await answerMessage(parts, { id, kind: call, body, signal: controller.signal })
    calls.delete(id)
    // First the status: who has the answer also sees what it changed.
    postStatus()
    post(message, transfer)
  }
  const close = async (): Promise<void> => {
    clearInterval(statusTimer)
    for (const controller of calls.values()) controller.abort(new AppError('interrupted', 'the server was closed'))
    await readiness.close()
    port.close()
  }
  port.on('message', (message: ToThread) => {
    switch (message.kind) {
      case 'call':
        run(answer(message))
        postStatus()
        return
      case 'cancel':
        calls.get(message.id)?.abort(fromThreadError(message.error))
        return
      case 'close':
        run(close())
        return
      default:
        message satisfies never
    }
  })
  post({ kind: 'opened', router, status: status() })
}

async function answerMessage(
  parts: CallParts,
  { id, ...call }: HistoryCall & { readonly id: number },
): Promise<readonly [FromThread, readonly ArrayBuffer[]]> {
  try {
    const answer = await answerCall(parts, call)
    const sent = { ...answer, noted: answer.noted.map(toThreadError) }
    return [{ kind: 'answered', id, answer: sent }, [sent.body.buffer as ArrayBuffer]]
  } catch (thrown) {
    return [{ kind: 'failed', id, error: toThreadError(thrown) }, []]
  }
}

/** Nothing awaits what a message started: a failure ends the thread, and its supervisor starts another. */
function run(work: Promise<void>): void {
  work.catch((thrown: unknown) => {
    setImmediate(() => {
      throw thrown
    })
  })
}

try {
  await open(workerData as ThreadOptions)
} catch (thrown) {
  post({ kind: 'open-failed', error: toThreadError(thrown) })
}
