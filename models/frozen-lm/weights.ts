/** A checkpoint's tensors as initializers of a graph: their bytes stay in the checkpoint's files. */
import { relative, sep } from 'node:path'
import { invariant } from '../../src/errors.ts'
import { ONNX_DTYPE, type OnnxDtype, type OnnxGraph } from '../onnx/onnx-graph.ts'
import type { Checkpoint } from './checkpoint.ts'
import { EMBEDDING, type WeightDtype } from './decoder.ts'

const ONNX_NAME = { F32: 'f32', F16: 'f16', BF16: 'bf16' } as const satisfies Record<WeightDtype, OnnxDtype>

export interface Weights {
  readonly has: (name: string) => boolean
  /** Name of the tensor as f32; a cast of a half-precision one is folded when the session loads. */
  readonly load: (name: string) => string
  /** Embeddings of the tokens: gathered raw and widened afterwards, so that only used rows are read. */
  readonly embed: (tokens: string) => string
}

export function createWeights(graph: OnnxGraph, checkpoint: Checkpoint): Weights {
  const declare = (name: string) => {
    const tensor = invariant(checkpoint.tensors.get(name), `tensor ${name} was checked when the checkpoint was opened`)
    const location = relative(checkpoint.root, tensor.file).split(sep).join('/')
    const { offset, sizeBytes } = tensor
    graph.external(name, ONNX_NAME[tensor.dtype], tensor.shape, { location, offset, sizeBytes })
    return tensor
  }
  const widen = (value: string, dtype: WeightDtype): string =>
    dtype === 'F32' ? value : graph.op('Cast', [value], { attributes: { to: { int: ONNX_DTYPE.f32 } } })
  return {
    has: (name) => checkpoint.tensors.has(name),
    load: (name) => widen(name, declare(name).dtype),
    embed: (tokens) => {
      const { dtype } = declare(EMBEDDING)
      return widen(graph.op('Gather', [EMBEDDING, tokens], { attributes: { axis: { int: 0 } } }), dtype)
    },
  }
}
