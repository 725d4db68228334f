/** Time as the chat client sees it, so that tests wait for nothing. */
import { setTimeout as wait } from 'node:timers/promises'

export interface ChatClock {
  /** Milliseconds since 1970: Retry-After may be a date. */
  nowMs(): number
  /** @throws the signal's AbortError */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
}

export const systemClock: ChatClock = {
  nowMs: () => Date.now(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal === undefined ? {} : { signal })
  },
}
