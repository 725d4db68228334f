import type { ChatClock } from '../../models/chat/clock.ts'

export interface FakeChatClock extends ChatClock {
  readonly sleeps: readonly number[]
}

/** Sleeping moves the clock and takes no time. */
export function createFakeChatClock(startMs = 0): FakeChatClock {
  let nowMs = startMs
  const sleeps: number[] = []
  return {
    sleeps,
    nowMs: () => nowMs,
    sleep(ms, signal) {
      signal?.throwIfAborted()
      sleeps.push(ms)
      nowMs += ms
      return Promise.resolve()
    },
  }
}
