/**
 * One HTTP request to a chat-completions endpoint: what came back, as a value. Retries nothing, follows no redirect.
 */

import type { ChatClock } from './clock.ts'
import { parseFailure } from './completion.schema.ts'
import type { UnansweredReason } from './port.ts'
import { type Completion, parseJson, readStreamedCompletion, readText, readWholeCompletion } from './read-completion.ts'
import { readRetryAfterMs } from './retry.ts'
import { createWatchdog, type Watchdog } from './watchdog.ts'

export interface ChatTimeouts {
  /** Until the response starts; a server that does not stream thinks before that. */
  readonly responseMs: number
  /** Between two pieces of the body. */
  readonly idleMs: number
  readonly wholeMs: number
}

/**
 * Assumption: a queue or a long prompt takes minutes, a healthy stream never pauses for two. Node's fetch ends an attempt of
 * its own accord after 300 s without headers or bytes, and after 10 s without a connection.
 */
export const DEFAULT_TIMEOUTS: ChatTimeouts = { responseMs: 290_000, idleMs: 120_000, wholeMs: 900_000 }

/** A stream event spends some hundred bytes on one token; beyond this the body is no answer (assumption: 4x headroom). */
const BYTES_PER_TOKEN = 2_048
const BODY_HEADROOM_BYTES = 1 << 20
const MAX_ERROR_BODY_BYTES = 64 * 1024
const MAX_MESSAGE_CHARS = 300

export interface AttemptOptions {
  readonly url: string
  readonly apiKey: string | null
  readonly body: Readonly<Record<string, unknown>>
  readonly maxOutputTokens: number
  readonly timeouts: ChatTimeouts
  readonly clock: ChatClock
  readonly signal: AbortSignal | undefined
}

export type Attempt =
  | { readonly kind: 'answered'; readonly completion: Completion }
  | {
      readonly kind: 'status'
      readonly status: number
      /** The server's words, shortened. */
      readonly message: string
      readonly retryAfterMs: number | null
      readonly location: string | null
    }
  | {
      readonly kind: 'broken'
      readonly reason: Exclude<UnansweredReason, 'rate-limited'>
      readonly message: string
      /** The server had accepted the request and begun to answer. */
      readonly began: boolean
      /** Answer text that had arrived. */
      readonly chars: number
    }

/** @throws what the caller's signal makes fetch throw; anything else is a value */
export async function attemptChat(options: AttemptOptions): Promise<Attempt> {
  const { timeouts, signal } = options
  const watchdog = createWatchdog({ outer: signal, wholeMs: timeouts.wholeMs })
  const progress = { chars: 0 }
  const state = { started: false, accepted: false }
  try {
    signal?.throwIfAborted()
    watchdog.expect('a response', timeouts.responseMs)
    const response = await fetch(options.url, {
      method: 'POST',
      headers: headersOf(options.apiKey),
      body: JSON.stringify(options.body),
      redirect: 'manual',
      signal: watchdog.signal,
    })
    state.started = true
    state.accepted = response.status === 200
    return await readResponse(response, { options, watchdog, progress })
  } catch (thrown) {
    signal?.throwIfAborted()
    const { accepted: began, started } = state
    const { reason, message } = brokenBy(thrown, { watchdog, started })
    return { kind: 'broken', reason, began, chars: progress.chars, message: shorten(message, options.apiKey) }
  } finally {
    watchdog.stop()
  }
}

async function readResponse(
  response: Response,
  state: { readonly options: AttemptOptions; readonly watchdog: Watchdog; readonly progress: { chars: number } },
): Promise<Attempt> {
  const { options, watchdog, progress } = state
  const limit =
    response.status === 200 ? options.maxOutputTokens * BYTES_PER_TOKEN + BODY_HEADROOM_BYTES : MAX_ERROR_BODY_BYTES
  const chunks = limited(response, {
    limit,
    onChunk: () => watchdog.expect('more of the body', options.timeouts.idleMs),
  })
  if (response.status !== 200) {
    const body = await readText(untilTooLarge(chunks))
    return {
      kind: 'status',
      status: response.status,
      message: shorten(parseFailure(parseJson(body)) ?? '', options.apiKey),
      retryAfterMs: readRetryAfterMs(response.headers, options.clock.nowMs()),
      location: response.headers.get('location'),
    }
  }
  const streamed = response.headers.get('content-type')?.includes('text/event-stream') === true
  const read = streamed ? await readStreamedCompletion(chunks, progress) : await readWholeCompletion(chunks)
  if (read.kind === 'completion') return { kind: 'answered', completion: read.completion }
  const reason = read.how === 'failed' ? 'server-error' : read.how
  return { kind: 'broken', reason, began: true, chars: read.chars, message: shorten(read.message, options.apiKey) }
}

/** Thrown when a body passes its limit. */
class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

async function* limited(
  response: Response,
  watch: { readonly limit: number; readonly onChunk: () => void },
): AsyncGenerator<Uint8Array> {
  if (response.body === null) return
  let bytes = 0
  watch.onChunk()
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > watch.limit) throw new BodyTooLarge(`the body is longer than ${watch.limit} bytes`)
    watch.onChunk()
    yield chunk
  }
}

/** For error bodies: the beginning is enough. */
async function* untilTooLarge(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (thrown) {
    if (!(thrown instanceof BodyTooLarge)) throw thrown
  }
}

function headersOf(apiKey: string | null): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  }
}

function brokenBy(
  thrown: unknown,
  state: { readonly watchdog: Watchdog; readonly started: boolean },
): { readonly reason: Exclude<UnansweredReason, 'rate-limited'>; readonly message: string } {
  const missed = state.watchdog.expired()
  if (missed !== null) return { reason: 'timeout', message: `there was not ${missed}` }
  if (thrown instanceof BodyTooLarge) return { reason: 'malformed', message: thrown.message }
  // fetch hides the network's own error in its cause; anything else is a fault of ours.
  if (!(thrown instanceof TypeError)) throw thrown
  const why = networkCode(thrown)
  if (why.endsWith('_TIMEOUT')) return { reason: 'timeout', message: `there was no answer in time (${why})` }
  if (state.started) return { reason: 'cut', message: `the connection broke off during the answer (${why})` }
  return { reason: 'connection', message: `no connection (${why})` }
}

/** e.g. ECONNREFUSED, ENOTFOUND, UND_ERR_SOCKET, CERT_HAS_EXPIRED. */
function networkCode(thrown: TypeError): string {
  const { cause } = thrown
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code
  return cause instanceof Error ? cause.message : thrown.message
}

/** One line; servers that repeat the key in their message do not get it into ours. */
function shorten(message: string, apiKey: string | null): string {
  const line = message.replace(/\s+/g, ' ').trim()
  const safe = apiKey === null ? line : line.replaceAll(apiKey, '[key]')
  return safe.length > MAX_MESSAGE_CHARS ? `${safe.slice(0, MAX_MESSAGE_CHARS)}...` : safe
}
