/**
 * A frozen LM that computes at most so many tokens at a time: a longer prefill goes through the same model piece by
 * piece, each behind the state of the one before. The bits are those of one run (run-shape.ts; tests over every family).
 */
import type { FrozenLm, PrefillOptions, PrefillResult, StateHandle } from './port.ts'

/**
 * @param mostTokens of one run that is a part of a prefill which ends after so many tokens
 * @returns `lm` with the same info, whose runs compute at most that many tokens; it owns the given one
 */
export function boundRuns(lm: FrozenLm, mostTokens: (totalTokens: number) => number): FrozenLm {
  async function prefill(tokens: Int32Array, options: PrefillOptions): Promise<PrefillResult> {
    const maxTokens = mostTokens((options.past?.tokenCount ?? 0) + tokens.length)
    if (tokens.length <= maxTokens) return lm.prefill(tokens, options)
    const rows = options.rows === 'last' ? [tokens.length - 1] : options.rows
    const { hiddenSize } = lm.info
    const data = new Float32Array(rows.length * hiddenSize)
    let past = options.past
    // What the caller gave stays the caller's.
    const release = (state: StateHandle | null): void => {
      if (state !== null && state !== options.past) lm.dispose(state)
    }
    for (let start = 0; start < tokens.length; start += maxTokens) {
      const end = Math.min(tokens.length, start + maxTokens)
      const last = end === tokens.length
      const wanted = [...rows.entries()].filter(([, row]) => row >= start && row < end)
      let result: PrefillResult
      try {
        result = await lm.prefill(tokens.subarray(start, end), {
          past,
          rows: wanted.length === 0 ? 'last' : wanted.map(([, row]) => row - start),
          keepState: !last || options.keepState,
        })
      } finally {
        release(past)
      }
      for (const [i, [place]] of wanted.entries())
        data.set(result.hidden.data.subarray(i * hiddenSize, (i + 1) * hiddenSize), place * hiddenSize)
      past = result.state
    }
    return { hidden: { data, rows: rows.length, cols: hiddenSize }, state: past }
  }
  return { ...lm, prefill }
}
