/**
 * Bounded work queue in front of the frozen LM: a budget in tokens, one job at a time, in order of arrival.
 * It alone owns pending work: a job whose client left or whose deadline passed never starts.
 */
import { throwIfAborted, untilAborted } from '../models/frozen-lm/abort-signal.ts'
import { AppError } from '../src/errors.ts'

export interface QueueLimits {
  /** Most tokens that may wait or run at once; one job larger than this still runs when the queue is empty. */
  readonly maxTokens: number
}

export interface QueueJob<T> {
  /** Estimated LM tokens of the job. */
  readonly tokens: number
  /** Aborted when the client left or the deadline passed. */
  readonly signal: AbortSignal
  readonly run: () => Promise<T>
}

export interface QueueStatus {
  readonly waiting: number
  readonly tokens: number
}

export interface TokenQueue {
  /** @throws queue-full with `retryAfterSeconds` in details, or the signal's reason */
  submit<T>(job: QueueJob<T>): Promise<T>
  status(): QueueStatus
}

/** Assumed until the first job has been timed; tokens a second of a small model on one core. Assumption. */
const FIRST_RATE = 2000
/** Weight of the newest job in the moving average of tokens a second. */
const RATE_WEIGHT = 0.3

export function createTokenQueue(limits: QueueLimits, nowMs: () => number): TokenQueue {
  let tokens = 0
  let waiting = 0
  let rate = FIRST_RATE
  let tail: Promise<unknown> = Promise.resolve()

  const runTimed = async <T>(job: QueueJob<T>): Promise<T> => {
    throwIfAborted(job.signal)
    const startMs = nowMs()
    const result = await job.run()
    const seconds = (nowMs() - startMs) / 1000
    if (seconds > 0 && job.tokens > 0) rate += RATE_WEIGHT * (job.tokens / seconds - rate)
    return result
  }

  return {
    async submit(job) {
      if (tokens > 0 && tokens + job.tokens > limits.maxTokens) {
        const retryAfterSeconds = Math.max(1, Math.ceil((tokens + job.tokens - limits.maxTokens) / rate))
        throw new AppError(
          'queue-full',
          `the queue holds ${tokens} of at most ${limits.maxTokens} tokens and this request needs about ${job.tokens}: retry in ${retryAfterSeconds} s`,
          { details: { retryAfterSeconds } },
        )
      }
      tokens += job.tokens
      waiting += 1
      let inLine = true
      const leaveLine = (): void => {
        if (inLine) waiting -= 1
        inLine = false
      }
      const turn = tail.then(() => {
        leaveLine()
        return runTimed(job)
      })
      tail = turn.then(
        () => undefined,
        () => undefined,
      )
      try {
        return await untilAborted(turn, job.signal)
      } finally {
        leaveLine()
        tokens -= job.tokens
      }
    },
    status: () => ({ waiting, tokens }),
  }
}
