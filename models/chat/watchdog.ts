/**
 * Ends an attempt that takes too long: before its first byte, between two bytes, or as a whole.
 */

export interface Watchdog {
  /** Aborted by a timer or by the caller's signal. */
  readonly signal: AbortSignal
  /** Which timer ended the attempt; null if none did. */
  expired(): string | null
  /** Restarts the timer for the next sign of life. */
  expect(what: string, withinMs: number): void
  /** Must be called when the attempt is over. */
  stop(): void
}

export function createWatchdog(options: {
  readonly outer: AbortSignal | undefined
  readonly wholeMs: number
}): Watchdog {
  const { outer, wholeMs } = options
  const controller = new AbortController()
  let expired: string | null = null
  const expire = (what: string): void => {
    expired ??= what
    controller.abort()
  }
  const onOuterAbort = (): void => controller.abort()
  if (outer?.aborted === true) controller.abort()
  outer?.addEventListener('abort', onOuterAbort, { once: true })
  const whole = setTimeout(() => expire(`the whole answer within ${wholeMs} ms`), wholeMs)
  let next: NodeJS.Timeout | undefined
  return {
    signal: controller.signal,
    expired: () => expired,
    expect(what, withinMs) {
      clearTimeout(next)
      next = setTimeout(() => expire(`${what} within ${withinMs} ms`), withinMs)
    },
    stop() {
      clearTimeout(whole)
      clearTimeout(next)
      outer?.removeEventListener('abort', onOuterAbort)
    },
  }
}
