/**
 * What a block of one layer builds its nodes with, and the two smallest blocks: linear map and RMS norm. Values between
 * blocks are float32; what linear maps read was narrowed before (precision.ts).
 */
import type { OnnxGraph } from '../../onnx/onnx-graph.ts'
import { layerTensor, type NormConfig } from '../decoder.ts'
import type { Precision } from '../execution.ts'
import type { Weights } from '../weights.ts'
import type { PlainAttention } from './plain-attention.ts'
import { narrow, throughNarrow, widen } from './precision.ts'

export interface LayerScope {
  readonly graph: OnnxGraph
  readonly weights: Weights
  readonly norm: NormConfig
  readonly precision: Precision
  /** null where attention is onnxruntime's own operator. */
  readonly plainAttention: PlainAttention | null
  /** 0-based. */
  readonly index: number
}

/** The layer's tensor `name` as f32. */
export function layerWeight(scope: LayerScope, name: string): string {
  return scope.weights.load(layerTensor(scope.index, name))
}

/**
 * [..., in] x [out, in]^T (+ bias): straight on the checkpoint's layout.
 * @param input narrow
 * @returns f32
 */
export function linear(scope: LayerScope, name: string, input: string): string {
  return biased(scope, name, widen(scope, scope.weights.multiply(input, layerTensor(scope.index, `${name}.weight`))))
}

/** `linear` whose result stays narrow. */
export function narrowLinear(scope: LayerScope, name: string, input: string): string {
  const { weights, index } = scope
  if (weights.has(layerTensor(index, `${name}.bias`))) return narrow(scope, linear(scope, name, input))
  return weights.multiply(input, layerTensor(index, `${name}.weight`))
}

/** `linear` over values beyond the range of float16. @param input [..., in] f32 */
export function wideRangeLinear(scope: LayerScope, name: string, input: string): string {
  const { weights, index } = scope
  const product = throughNarrow(scope, input, (rows) =>
    widen(scope, weights.multiply(rows, layerTensor(index, `${name}.weight`))),
  )
  return biased(scope, name, product)
}

/** `linear` in float32 whatever the graph's precision. */
export function wideLinear(scope: LayerScope, name: string, input: string): string {
  return biased(scope, name, scope.weights.multiply(input, layerTensor(scope.index, `${name}.weight`), 'f32'))
}

function biased(scope: LayerScope, name: string, product: string): string {
  const { graph, weights, index } = scope
  return weights.has(layerTensor(index, `${name}.bias`))
    ? graph.op('Add', [product, layerWeight(scope, `${name}.bias`)])
    : product
}

/** Over the last dimension, with the layer's weight `name`. */
export function rmsNorm(scope: LayerScope, name: string, input: string): string {
  const { graph, norm } = scope
  const weight = layerWeight(scope, `${name}.weight`)
  // A sum of constants: folded when the session loads.
  const scale = norm.weightOffset === 0 ? weight : graph.op('Add', [weight, graph.scalar(norm.weightOffset)])
  return normalise(graph, { input, scale, epsilon: norm.epsilon })
}

/** Each row over its root mean square, times `scale`. */
export function normalise(
  graph: OnnxGraph,
  norm: { readonly input: string; readonly scale: string; readonly epsilon: number },
): string {
  return graph.op('SimplifiedLayerNormalization', [norm.input, norm.scale], {
    attributes: { axis: { int: -1 }, epsilon: { float: norm.epsilon }, stash_type: { int: 1 } },
  })
}
