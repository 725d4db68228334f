import type { FrozenLm, StateHandle } from '../../models/frozen-lm/port.ts'
import { matrixFromRows } from '../../src/tensor/matrix.ts'

interface FakeState extends StateHandle {
  readonly tokens: readonly number[]
}

export interface FakeFrozenLm extends FrozenLm {
  /** Tokens of every run, in order. */
  readonly runs: readonly (readonly number[])[]
  /** States that were returned and not disposed, now and at most. */
  readonly liveStates: number
  readonly peakStates: number
  readonly closed: boolean
}

/** A hidden state is [position, sum of all tokens so far, last token, length-weighted sum]: it depends on every token. */
export function createFakeFrozenLm(
  options: { readonly contextLength?: number; readonly scale?: number; readonly onRun?: (run: number) => void } = {},
): FakeFrozenLm {
  const { contextLength = 8192, scale = 1, onRun } = options
  const runs: number[][] = []
  const live = new Set<StateHandle>()
  let peakStates = 0
  let closed = false
  return {
    info: {
      architecture: 'FakeForCausalLM',
      hiddenSize: 4,
      layerCount: 1,
      layer: 1,
      contextLength,
      vocabularySize: 1 << 20,
      device: 'cpu',
    },
    async prefill(tokens, { past, keepState }) {
      if (past !== null && !live.has(past)) throw new Error('a disposed state was used')
      onRun?.(runs.length)
      runs.push(Array.from(tokens))
      const all = [...((past as FakeState | null)?.tokens ?? []), ...tokens]
      if (all.length > contextLength) throw new Error(`${all.length} tokens exceed the context of ${contextLength}`)
      const sum = all.reduce((total, id) => total + id, 0)
      const weighted = all.reduce((total, id, at) => (total * 31 + id * (at + 1)) % 65521, 7)
      const hidden = matrixFromRows([[all.length, sum, all.at(-1) ?? -1, weighted].map((x) => x * scale)], 4)
      const state: FakeState | null = keepState ? { tokenCount: all.length, sizeBytes: 8, tokens: all } : null
      if (state !== null) live.add(state)
      peakStates = Math.max(peakStates, live.size)
      return { hidden, state }
    },
    dispose(state) {
      if (!live.delete(state)) throw new Error('a state was disposed twice')
    },
    async close() {
      closed = true
    },
    runs,
    get liveStates() {
      return live.size
    },
    get peakStates() {
      return peakStates
    },
    get closed() {
      return closed
    },
  }
}
