/**
 * A chat model behind any OpenAI-compatible `/chat/completions`: one attempt after the other until there is an answer.
 * Streams unless told otherwise; a server that answers a stream request with one JSON body is read all the same.
 * The API key is sent, never told: no message of this file holds it.
 */
import { AppError } from '../../src/errors.ts'
import type { Rng } from '../../src/rng.ts'
import { type Attempt, attemptChat, type ChatTimeouts, DEFAULT_TIMEOUTS } from './attempt.ts'
import { type ChatClock, systemClock } from './clock.ts'
import { type Dialect, FIRST_DIALECT, plainerDialect, requestBody } from './dialect.ts'
import type { ChatEndpoint } from './endpoint.ts'
import { isHopeless, outcomeOf, outcomeOfRefusal } from './outcome.ts'
import type { ChatModel, ChatOutcome, ChatReply, ChatRequest, LostAttempt, UnansweredReason } from './port.ts'
import { DEFAULT_RETRY, isRetriedStatus, type RetryPolicy, retryDelayMs } from './retry.ts'

export interface OpenAiChatOptions {
  readonly endpoint: ChatEndpoint
  readonly model: string
  /** Sent as `Authorization: Bearer`; null: no such header. */
  readonly apiKey: string | null
  /** Jitter of the waits between retries. */
  readonly rng: Rng
  readonly stream?: boolean
  readonly retry?: RetryPolicy
  readonly timeouts?: ChatTimeouts
  readonly clock?: ChatClock
}

export function createOpenAiChat(options: OpenAiChatOptions): ChatModel {
  const { endpoint, model, apiKey, rng, stream = true } = options
  const { retry = DEFAULT_RETRY, timeouts = DEFAULT_TIMEOUTS, clock = systemClock } = options
  /** What worked last; every call starts from it. */
  let known: Dialect = FIRST_DIALECT
  /** The server has answered something, ever. */
  let reached = false
  /** A server that asks one call to pause asks all of them. */
  let pausedUntilMs = 0

  const pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
    if (ms > 0) await clock.sleep(ms, signal)
  }

  const ask = async (request: ChatRequest, signal?: AbortSignal): Promise<ChatReply> => {
    const lost: LostAttempt[] = []
    let retries = 0
    let dialect = known
    for (;;) {
      while (clock.nowMs() < pausedUntilMs) await pause(pausedUntilMs - clock.nowMs(), signal)
      const attempt = await attemptChat({
        url: endpoint.url,
        apiKey,
        body: requestBody(request, { model, stream, dialect }),
        maxOutputTokens: request.maxOutputTokens,
        timeouts,
        clock,
        signal,
      })
      if (attempt.kind === 'answered') {
        known = dialect
        reached = true
        const { completion } = attempt
        return { outcome: outcomeOf(completion), usage: completion.usage, retries, lost }
      }
      const failed = (outcome: ChatOutcome): ChatReply => ({ outcome, usage: null, retries, lost })
      if (attempt.kind === 'status') {
        refuseHopeless(endpoint, attempt)
        if (!isRetriedStatus(attempt.status)) {
          const outcome = outcomeOfRefusal(attempt.status, attempt.message)
          if (outcome !== null) return failed(outcome)
          const wantsJson = request.answer !== undefined
          const plainer = plainerDialect(dialect, { message: attempt.message, wantsJson, stream })
          if (plainer === null) return failed({ kind: 'rejected', status: attempt.status, message: attempt.message })
          dialect = plainer
          continue
        }
      }
      if (attempt.kind === 'broken' && attempt.began) lost.push({ chars: attempt.chars })
      const { reason, message } = reasonOf(attempt)
      const retryAfterMs = attempt.kind === 'status' ? attempt.retryAfterMs : null
      const unanswered = (why: string): ChatReply => failed({ kind: 'unanswered', reason, message: `${message}${why}` })
      if (attempt.kind === 'status') reached = true
      if (retries >= mostRetries(reason, { policy: retry, reached })) return unanswered(` (after ${retries} retries)`)
      if (retryAfterMs !== null && retryAfterMs > retry.maxRetryAfterMs)
        return unanswered(` (it asks for a pause of ${Math.ceil(retryAfterMs / 1000)} s)`)
      const delayMs = retryDelayMs(retry, { retry: retries, retryAfterMs, rng })
      retries += 1
      if (retryAfterMs !== null) pausedUntilMs = Math.max(pausedUntilMs, clock.nowMs() + retryAfterMs)
      await pause(delayMs, signal)
    }
  }

  return {
    model,
    endpoint: endpoint.shown,
    async ask(request, signal) {
      try {
        return await ask(request, signal)
      } catch (thrown) {
        if (signal?.aborted !== true) throw thrown
        if (signal.reason instanceof AppError) throw signal.reason
        throw new AppError('interrupted', 'the chat request was cancelled by its caller', { cause: thrown })
      }
    },
  }
}

/** A body that is no chat completion is billed each time; an address where nobody listens is most likely a wrong one. */
function mostRetries(
  reason: UnansweredReason,
  state: { readonly policy: RetryPolicy; readonly reached: boolean },
): number {
  const { maxRetries } = state.policy
  if (reason === 'malformed') return Math.min(1, maxRetries)
  return reason === 'connection' && !state.reached ? Math.min(2, maxRetries) : maxRetries
}

function reasonOf(attempt: Exclude<Attempt, { kind: 'answered' }>): {
  readonly reason: UnansweredReason
  readonly message: string
} {
  if (attempt.kind === 'broken') return { reason: attempt.reason, message: attempt.message }
  const reason = attempt.status === 429 ? 'rate-limited' : 'server-error'
  return { reason, message: `HTTP ${attempt.status}${attempt.message === '' ? '' : `: ${attempt.message}`}` }
}

function refuseHopeless(endpoint: ChatEndpoint, attempt: Extract<Attempt, { kind: 'status' }>): void {
  const { status, message, location } = attempt
  const details = { endpoint: endpoint.shown, status }
  const said = message === '' ? '' : `: ${message}`
  if (status >= 300 && status < 400)
    throw new AppError(
      'endpoint-refused',
      `${endpoint.shown} redirects (HTTP ${status}) to ${location ?? 'another address'}: nothing was sent there; ` +
        'give that address as the endpoint if you trust it',
      { details },
    )
  if (!isHopeless(status, message)) return
  const next =
    status === 404 || status === 405
      ? 'check the base URL (most end in /v1) and the name of the model'
      : status === 401 || status === 403
        ? 'check the API key and what it may use'
        : 'check the account of this key'
  throw new AppError('endpoint-refused', `${endpoint.shown} answers HTTP ${status}${said}; ${next}`, { details })
}
