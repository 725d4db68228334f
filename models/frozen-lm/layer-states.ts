/**
 * Owner of what one session's runs leave for later ones: keys and values, or recurrent and convolution states. Other
 * code holds handles, never tensors. A run never writes into the state it starts from, so any number of targets may
 * start from the same one.
 */
import * as ort from 'onnxruntime-node'
import { invariant } from '../../src/errors.ts'
import type { StateTensor } from './decoder-names.ts'
import type { StateHandle } from './port.ts'

export type Feeds = Record<string, ort.Tensor>

export interface LayerStates {
  /** Outputs to fetch when the state is to be kept. */
  readonly outputNames: readonly string[]
  /** Past inputs of a run; a null handle is the state before the first token. */
  feeds(past: StateHandle | null): Feeds
  /** @param tokenCount tokens the state stands for, the past's included; keys and values beyond them are cut off */
  keep(outputs: Feeds, tokenCount: number): StateHandle
  dispose(state: StateHandle): void
  clear(): void
}

export function createLayerStates(tensors: readonly StateTensor[]): LayerStates {
  const states = new Map<StateHandle, Feeds>()
  const empty: Feeds = Object.fromEntries(
    tensors.map(({ past, shape }) => {
      const dims = shape.map((size) => (size === 'P' ? 0 : size))
      return [past, new ort.Tensor('float32', new Float32Array(elements(dims)), dims)]
    }),
  )

  return {
    outputNames: tensors.map(({ present }) => present),
    feeds: (past) =>
      past === null ? empty : invariant(states.get(past), 'a past state of this session that was not disposed'),
    keep(outputs, tokenCount) {
      const state: Feeds = {}
      let sizeBytes = 0
      for (const { past, present, shape } of tensors) {
        const tensor = cut(invariant(outputs[present], `the session returned ${present}`), shape, tokenCount)
        sizeBytes += elements(tensor.dims) * Float32Array.BYTES_PER_ELEMENT
        state[past] = tensor
      }
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

/** The first `tokenCount` positions along the dimension that grows. */
function cut(source: ort.Tensor, shape: StateTensor['shape'], tokenCount: number): ort.Tensor {
  const axis = shape.indexOf('P')
  const computed = source.dims[axis]
  const data = source.data
  if (!(data instanceof Float32Array) || computed === undefined || computed === tokenCount) return source
  const dims = source.dims.map((size, i) => (i === axis ? tokenCount : size))
  const inner = elements(dims.slice(axis + 1))
  const blocks = elements(dims.slice(0, axis))
  const kept = new Float32Array(elements(dims))
  for (let block = 0; block < blocks; block++) {
    const start = block * computed * inner
    kept.set(data.subarray(start, start + tokenCount * inner), block * tokenCount * inner)
  }
  return new ort.Tensor('float32', kept, dims)
}

function elements(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1)
}
