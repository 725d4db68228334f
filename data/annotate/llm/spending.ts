/**
 * Keeps the work inside a budget: a call starts only if everything spent, everything under way at its worst, and this call
 * at its worst stay within it. One owner of the sums.
 */

export interface Spending {
  /** US dollars, earlier runs of the same journal included. */
  spentUsd(): number
  /**
   * Waits until the call fits beside those under way.
   *   returns  false once a call could pass the budget even alone: from then on nothing more is started
   */
  reserve(worstUsd: number): Promise<boolean>
  /** Ends a reservation with what the call really cost. */
  settle(worstUsd: number, actualUsd: number): void
  /** The budget has stopped a call. */
  exhausted(): boolean
}

/** @param limitUsd null: no budget */
export function createSpending(limitUsd: number | null, earlierUsd: number): Spending {
  let spent = earlierUsd
  let reserved = 0
  let exhausted = false
  let waiting: (() => void)[] = []
  const wake = (): void => {
    const all = waiting
    waiting = []
    for (const resume of all) resume()
  }
  return {
    spentUsd: () => spent,
    exhausted: () => exhausted,
    async reserve(worstUsd) {
      while (limitUsd !== null) {
        if (exhausted) return false
        if (spent + worstUsd > limitUsd) {
          exhausted = true
          wake()
          return false
        }
        if (spent + reserved + worstUsd <= limitUsd) break
        await new Promise<void>((resolve) => waiting.push(resolve))
      }
      reserved += worstUsd
      return true
    },
    settle(worstUsd, actualUsd) {
      reserved -= worstUsd
      spent += actualUsd
      wake()
    },
  }
}
