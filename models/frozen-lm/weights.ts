/** A checkpoint's tensors as initializers of a graph: their bytes stay in the checkpoint's files. */
import { relative, sep } from 'node:path'
import { invariant } from '../../src/errors.ts'
import { ONNX_DTYPE, type OnnxDtype, type OnnxGraph } from '../onnx/onnx-graph.ts'
import type { Checkpoint } from './checkpoint.ts'
import { EMBEDDING, type WeightDtype } from './decoder.ts'
import type { Precision } from './execution.ts'
import type { GraphVariant, Int8Matrix } from './graph-variant.ts'

const ONNX_NAME = { F32: 'f32', F16: 'f16', BF16: 'bf16' } as const satisfies Record<WeightDtype, OnnxDtype>

export interface Weights {
  readonly has: (name: string) => boolean
  /** Name of the tensor as f32; a cast of a half-precision one is folded when the session loads. */
  readonly load: (name: string) => string
  /**
   * [..., inputs] x [outputs, inputs]^T, straight on the checkpoint's layout of the matrix `name`; input, matrix and
   * result are of the given precision, the variant's where none is given.
   */
  readonly multiply: (input: string, name: string, precision?: Precision) => string
  /** Embeddings of the tokens: gathered raw and widened afterwards, so that only used rows are read. */
  readonly embed: (tokens: string) => string
}

export function createWeights(graph: OnnxGraph, checkpoint: Checkpoint, variant: GraphVariant): Weights {
  const find = (name: string) =>
    invariant(checkpoint.tensors.get(name), `tensor ${name} was checked when the checkpoint was opened`)
  const declare = (name: string) => {
    const tensor = find(name)
    const location = relative(checkpoint.root, tensor.file).split(sep).join('/')
    const { offset, sizeBytes } = tensor
    graph.external(name, ONNX_NAME[tensor.dtype], tensor.shape, { location, offset, sizeBytes })
    return tensor
  }
  /** The same name where nothing has to change. */
  const cast = (value: string, dtype: WeightDtype, to: Precision): string =>
    ONNX_NAME[dtype] === to ? value : graph.op('Cast', [value], { attributes: { to: { int: ONNX_DTYPE[to] } } })
  return {
    has: (name) => checkpoint.tensors.has(name),
    load: (name) => cast(name, declare(name).dtype, 'f32'),
    multiply(input, name, precision = variant.precision) {
      const integers = variant.quantise?.(name, find(name)) ?? null
      if (integers !== null) return multiplyInt8(graph, { input, name, integers })
      const { dtype, shape } = declare(name)
      const matrix =
        variant.widen === 'at-run' && dtype !== 'F32'
          ? cast(delayed(graph, { name, shape, input }), dtype, precision)
          : cast(name, dtype, precision)
      // Folded when the session loads.
      if (variant.operators === 'plain') return graph.op('MatMul', [input, graph.op('Transpose', [matrix])])
      return graph.op('FusedMatMul', [input, matrix], { attributes: { transB: { int: 1 } }, microsoft: true })
    },
    embed(tokens) {
      const { dtype } = declare(EMBEDDING)
      const axis = { attributes: { axis: { int: 0 } } }
      // Devices gather no bfloat16: the table is converted once, when the session loads.
      if (variant.operators === 'plain') {
        const { precision } = variant
        const rows = graph.op('Gather', [cast(EMBEDDING, dtype, precision), tokens], axis)
        return cast(rows, precision === 'f16' ? 'F16' : 'F32', 'f32')
      }
      return cast(graph.op('Gather', [EMBEDDING, tokens], axis), dtype, 'f32')
    },
  }
}

/**
 * The tensor once `input` is there. The runtime runs nodes without inputs of their own first, so plain casts of all layers
 * would pile up; as a reshape whose target shape depends on `input`, each waits for its layer (measured, reference section
 * 1: 36 MB instead of 285 MB of a 424 MB model). A reshape copies nothing.
 */
function delayed(
  graph: OnnxGraph,
  matrix: { readonly name: string; readonly shape: readonly number[]; readonly input: string },
): string {
  const size = graph.op('Shape', [matrix.input], { attributes: { start: { int: 0 }, end: { int: 1 } } })
  const nothing = graph.op('Mul', [size, graph.ints([0])])
  return graph.op('Reshape', [matrix.name, graph.op('Add', [graph.ints(matrix.shape), nothing])])
}

/** The activations are quantised at run time, to 8 bits with one scale for the whole run. */
function multiplyInt8(
  graph: OnnxGraph,
  product: {
    readonly input: string
    readonly name: string
    readonly integers: Int8Matrix
  },
): string {
  const { input, name, integers } = product
  const outputs = integers.scales.length
  const inputs = integers.values.length / outputs
  return graph.op(
    'DynamicQuantizeMatMul',
    [
      input,
      graph.constant(`${name}.int8`, 'i8', [inputs, outputs], integers.values),
      graph.constant(`${name}.scale`, 'f32', [outputs], integers.scales),
      graph.constant(`zero_points_${outputs}`, 'i8', [outputs], new Int8Array(outputs)),
    ],
    { microsoft: true },
  )
}
