/**
 * Owner of what one session's runs leave for later ones: keys and values, or recurrent and convolution states. Other
 * code holds handles, never tensors. A run never writes into the state it starts from, so any number of targets may
 * start from the same one.
 */
import * as ort from 'onnxruntime-node'
import { invariant } from '../../src/errors.ts'
import type { StateTensor } from './decoder-names.ts'
import type { Precision } from './execution.ts'
import type { StateHandle } from './port.ts'

const BYTES = { f32: 4, f16: 2 } as const

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
    tensors.map(({ past, shape, dtype }) => {
      const dims = shape.map((size) => (size === 'P' ? 0 : size))
      return [past, tensorOf(dtype, new Uint8Array(elements(dims) * BYTES[dtype]), dims)]
    }),
  )

  return {
    outputNames: tensors.map(({ present }) => present),
    feeds: (past) =>
      past === null ? empty : invariant(states.get(past), 'a past state of this session that was not disposed'),
    keep(outputs, tokenCount) {
      const state: Feeds = {}
      let sizeBytes = 0
      for (const { past, present, shape, dtype } of tensors) {
        const tensor = cut(invariant(outputs[present], `the session returned ${present}`), {
          shape,
          dtype,
          tokenCount,
        })
        sizeBytes += elements(tensor.dims) * BYTES[dtype]
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
function cut(
  source: ort.Tensor,
  to: Pick<StateTensor, 'shape' | 'dtype'> & { readonly tokenCount: number },
): ort.Tensor {
  const { shape, dtype, tokenCount } = to
  const axis = shape.indexOf('P')
  const computed = source.dims[axis]
  if (!ArrayBuffer.isView(source.data) || computed === undefined || computed === tokenCount) return source
  const { buffer, byteOffset, byteLength } = source.data
  const data = new Uint8Array(buffer, byteOffset, byteLength)
  const dims = source.dims.map((size, i) => (i === axis ? tokenCount : size))
  const inner = elements(dims.slice(axis + 1)) * BYTES[dtype]
  const blocks = elements(dims.slice(0, axis))
  const kept = new Uint8Array(elements(dims) * BYTES[dtype])
  for (let block = 0; block < blocks; block++) {
    const start = block * computed * inner
    kept.set(data.subarray(start, start + tokenCount * inner), block * tokenCount * inner)
  }
  return tensorOf(dtype, kept, dims)
}

/** @param bytes a buffer of its own */
function tensorOf(dtype: Precision, bytes: Uint8Array<ArrayBuffer>, dims: readonly number[]): ort.Tensor {
  return dtype === 'f16'
    ? new ort.Tensor('float16', new Uint16Array(bytes.buffer), [...dims])
    : new ort.Tensor('float32', new Float32Array(bytes.buffer), [...dims])
}

function elements(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1)
}
