/**
 * Counts the calls that are inside, so that a server that stops can wait for them, and not for ever.
 */
import { AppError } from '../src/errors.ts'
import type { HistoryAnswer, HistoryCall } from './answer-call.ts'

type Answer = (call: HistoryCall) => Promise<HistoryAnswer>

export interface CallTracker {
  readonly answer: Answer
  /** No new call is let in. */
  readonly draining: boolean
  /** Refuses new calls, waits for those inside, and after `drainMs` cancels what is left. */
  drain(drainMs: number): Promise<void>
}

export function createCallTracker(answer: Answer): CallTracker {
  const inside = new Set<Promise<unknown>>()
  const giveUp = new AbortController()
  let draining = false
  const tracked = async (call: HistoryCall): Promise<HistoryAnswer> => {
    if (draining) throw drainingError()
    const answered = answer({ ...call, signal: AbortSignal.any([call.signal, giveUp.signal]) })
    inside.add(answered)
    try {
      return await answered
    } finally {
      inside.delete(answered)
    }
  }
  return {
    answer: tracked,
    get draining() {
      return draining
    },
    async drain(drainMs) {
      draining = true
      const timer = setTimeout(() => giveUp.abort(drainingError()), drainMs)
      await Promise.allSettled(inside)
      clearTimeout(timer)
    },
  }
}

function drainingError(): AppError {
  return new AppError('server-draining', 'the server is shutting down: send the request elsewhere or later')
}
