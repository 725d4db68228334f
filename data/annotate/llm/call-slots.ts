/**
 * How many calls are under way at a time. The waiting call of the earliest run goes first, so that runs are finished one
 * after the other and a stop leaves few of them half done.
 */

export interface CallSlots {
  /** @param rank lower goes first; equal ranks in the order they came. Resolves to the function that frees the slot. */
  take(rank: number): Promise<() => void>
}

export function createCallSlots(size: number): CallSlots {
  let free = size
  const waiting: { readonly rank: number; readonly start: () => void }[] = []
  const release = (): void => {
    let first = 0
    waiting.forEach((candidate, at) => {
      if (candidate.rank < (waiting[first]?.rank ?? Number.POSITIVE_INFINITY)) first = at
    })
    const [next] = waiting.splice(first, 1)
    if (next === undefined) free += 1
    else next.start()
  }
  const once = (): (() => void) => {
    let held = true
    return () => {
      if (held) release()
      held = false
    }
  }
  return {
    take(rank) {
      if (free > 0) {
        free -= 1
        return Promise.resolve(once())
      }
      return new Promise((resolve) => waiting.push({ rank, start: () => resolve(once()) }))
    },
  }
}
