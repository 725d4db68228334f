/** Owner of the KV caches of one session: other code holds handles, never tensors. */
import * as ort from 'onnxruntime-node'
import { invariant } from '../../src/errors.ts'
import { pastNames, presentNames } from './decoder-graph.ts'
import type { StateHandle } from './port.ts'

export type Feeds = Record<string, ort.Tensor>

export interface KvStates {
  /** Outputs to fetch when the state is to be kept. */
  readonly outputNames: readonly string[]
  /** Past inputs of a run; a null handle is the empty past. */
  feeds(past: StateHandle | null): Feeds
  /** @param tokenCount tokens to keep; what a run computed beyond them is cut off */
  keep(outputs: Feeds, tokenCount: number): StateHandle
  dispose(state: StateHandle): void
  clear(): void
}

export function createKvStates(shape: {
  readonly layer: number
  readonly keyValueHeadCount: number
  readonly headSize: number
}): KvStates {
  const { layer, keyValueHeadCount, headSize } = shape
  const states = new Map<StateHandle, Feeds>()
  const layers = Array.from({ length: layer }, (_, index) => index)
  const pairs = layers.flatMap((index) => {
    const [pastKey, pastValue] = pastNames(index)
    const [presentKey, presentValue] = presentNames(index)
    return [
      { past: pastKey, present: presentKey },
      { past: pastValue, present: presentValue },
    ]
  })
  const tensor = (data: Float32Array, tokens: number) =>
    new ort.Tensor('float32', data, [1, keyValueHeadCount, tokens, headSize])
  const empty = Object.fromEntries(pairs.map(({ past }) => [past, tensor(new Float32Array(0), 0)]))

  /** [1, K, T', D] -> [1, K, T, D] */
  const cut = (source: ort.Tensor, tokenCount: number): ort.Tensor => {
    const computed = invariant(source.dims[2], 'a KV tensor has four dimensions')
    const data = source.data
    if (!(data instanceof Float32Array) || computed === tokenCount) return source
    const kept = new Float32Array(keyValueHeadCount * tokenCount * headSize)
    for (let head = 0; head < keyValueHeadCount; head++) {
      const start = head * computed * headSize
      kept.set(data.subarray(start, start + tokenCount * headSize), head * tokenCount * headSize)
    }
    return tensor(kept, tokenCount)
  }

  return {
    outputNames: pairs.map(({ present }) => present),
    feeds: (past) =>
      past === null ? empty : invariant(states.get(past), 'a past state of this session that was not disposed'),
    keep(outputs, tokenCount) {
      const state: Feeds = {}
      for (const { past, present } of pairs)
        state[past] = cut(invariant(outputs[present], `the session returned ${present}`), tokenCount)
      const sizeBytes = pairs.length * keyValueHeadCount * tokenCount * headSize * Float32Array.BYTES_PER_ELEMENT
      const handle: StateHandle = { tokenCount, sizeBytes }
      states.set(handle, state)
      return handle
    },
    dispose(state) {
      states.delete(state)
    },
    clear() {
      states.clear()
    },
  }
}
