import type { TokenScorer } from '../../models/frozen-lm/head/token-scorer.ts'
import type { StateHandle } from '../../models/frozen-lm/port.ts'

interface FakeState extends StateHandle {
  readonly tokens: readonly number[]
}

export interface FakeTokenScorer extends TokenScorer {
  readonly liveStates: number
  /** Runs so far, reads and scores. */
  readonly runs: number
}

/**
 * A token that stood before has log-probability -1, any other one -5, and every token a little noise from all tokens
 * before it: what a model that only copies would say.
 */
export function createFakeTokenScorer(options: { readonly onRun?: (run: number) => void } = {}): FakeTokenScorer {
  const live = new Set<StateHandle>()
  let runs = 0
  const before = (past: StateHandle | null): readonly number[] => {
    if (past !== null && !live.has(past)) throw new Error('a disposed state was used')
    return (past as FakeState | null)?.tokens ?? []
  }
  return {
    contextLength: 4096,
    async read(tokens, past) {
      options.onRun?.(runs++)
      const all = [...before(past), ...tokens]
      const state: FakeState = { tokenCount: all.length, sizeBytes: 8, tokens: all }
      live.add(state)
      return state
    },
    async score(tokens, { past, from }) {
      options.onRun?.(runs++)
      const all = [...before(past), ...tokens]
      const start = all.length - tokens.length + from
      const noise = all.slice(0, start).reduce((hash, token) => (hash * 31 + token) % 997, 1) / 997
      return Float32Array.from(
        all.slice(start).map((token, k) => (all.slice(0, start + k).includes(token) ? -1 : -5) + noise / 100),
      )
    },
    dispose(state) {
      if (!live.delete(state)) throw new Error('a state was disposed twice')
    },
    async close() {
      if (live.size > 0) throw new Error('states are left')
    },
    get liveStates() {
      return live.size
    },
    get runs() {
      return runs
    },
  }
}
