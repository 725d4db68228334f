/**
 * An extractor whose model lives in a child process of its own: neither a long run nor a native crash touches the
 * caller. The child is started again after a crash, later each time it keeps crashing.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../src/errors.ts'
import { untilAborted } from './abort-signal.ts'
import type { Extractor, ExtractorOptions } from './extraction.ts'
import { closedError } from './extraction-client.ts'
import { endHostProcess, type HostProcess, startHostProcess } from './host-process.ts'
import type { OpenedModel } from './host-protocol.ts'
import { DEFAULT_PREFIX_CACHE_MB, prefixCacheBytes } from './prefix-cache.ts'
import { type Representation, representationId } from './representation.ts'

/** Delay before the n-th start in a row that served no request: 100 ms, doubling, at most 10 s. */
const FIRST_DELAY_MS = 100
const MAX_DELAY_MS = 10_000

/** A server scores growing sessions: 80,000 vectors of 192 values, 4,000 of 4,096. */
export const VECTOR_CACHE_BYTES = 64 * 1024 * 1024

const PREFIX_CACHE_BYTES = prefixCacheBytes(DEFAULT_PREFIX_CACHE_MB)

export interface SupervisedExtractor extends Extractor {
  /** Times the child was started again. */
  readonly restarts: number
  /** The model is open; false while the child restarts. Requests are accepted all the same and wait. */
  readonly ready: boolean
  /** Process id of the newest child. */
  readonly pid: number | undefined
}

/**
 * Starts the child and opens the model. A request that is in the child when it crashes fails with host-crashed; one
 * that comes while it restarts waits for it.
 * @throws what createExtractor throws, or host-crashed, on the first start; nothing is left running then
 */
export async function startSupervisedExtractor(wanted: ExtractorOptions): Promise<SupervisedExtractor> {
  const options = { vectorCacheBytes: VECTOR_CACHE_BYTES, prefixCacheBytes: PREFIX_CACHE_BYTES, ...wanted }
  let host = startHostProcess()
  const first = await openModel(host, options)
  const closing = new AbortController()
  let serving = Promise.resolve(host)
  let ready = true
  let restarts = 0
  let idleStarts = 0

  const restart = async (): Promise<HostProcess> => {
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** idleStarts)
    await pause(delayMs, undefined, { signal: closing.signal }).catch(() => {
      throw closedError()
    })
    restarts += 1
    idleStarts += 1
    host = startHostProcess()
    const started = supervised(host)
    await openModel(started, options, first.representation)
    ready = true
    return started
  }
  const supervised = (watched: HostProcess): HostProcess => {
    // Before the host's own listener, so that a caller who learns of the crash already finds the next host.
    watched.child.prependOnceListener('exit', () => {
      ready = false
      if (closing.signal.aborted) return
      serving = restart()
      // Each request that waits reports the failure itself; the next attempt is already on its way.
      serving.catch(() => undefined)
    })
    return watched
  }
  supervised(host)

  return {
    ...first,
    get restarts() {
      return restarts
    },
    get ready() {
      return ready
    },
    get pid() {
      return host.child.pid
    },
    async extract(request, hooks = {}) {
      if (closing.signal.aborted) throw closedError()
      const { client } = await untilAborted(serving, hooks.signal)
      const extraction = await client.extract(request, hooks)
      idleStarts = 0
      return extraction
    },
    async close() {
      closing.abort(closedError())
      ready = false
      await endHostProcess(host, closedError())
    },
  }
}

/** @param expected what the model must still be; its files may have been exchanged between two starts */
async function openModel(
  host: HostProcess,
  options: ExtractorOptions,
  expected?: Representation,
): Promise<OpenedModel> {
  try {
    const opened = await host.client.open(options)
    const { representation } = opened
    if (expected === undefined || representationId(representation) === representationId(expected)) return opened
    throw new AppError(
      'representation-mismatch',
      `the model in ${options.directory} is another one since the last start: representation ${representationId(representation)}, was ${representationId(expected)}; put its files back, or restart with a router made for the new ones`,
    )
  } catch (error) {
    await endHostProcess(host, closedError())
    throw error
  }
}
