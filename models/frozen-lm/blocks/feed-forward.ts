/** Gated feed-forward, down(activation(gate(x)) * up(x)), and the activations. */
import type { OnnxGraph } from '../../onnx/onnx-graph.ts'
import type { Activation, DenseConfig } from '../decoder.ts'
import { type LayerScope, linear, wideRangeLinear } from './layer-scope.ts'
import { narrow } from './precision.ts'
import { type DecoderTensor, linearTensors, parallelTensors } from './tensor-shapes.ts'

export function* feedForwardTensors(config: DenseConfig, hiddenSize: number): Generator<DecoderTensor> {
  const { size, bias } = config
  yield* parallelTensors({
    maps: { 'mlp.gate_proj': size, 'mlp.up_proj': size },
    fusedName: config.fusedProjections ? 'mlp.gate_up_proj' : null,
    inputs: hiddenSize,
    bias,
  })
  yield* linearTensors({ name: 'mlp.down_proj', outputs: hiddenSize, inputs: size, bias })
}

/**
 * @param name of the module that holds gate_proj, up_proj and down_proj
 * @param input [..., d], normed
 * @returns [..., d]
 */
export function feedForward(
  scope: LayerScope,
  block: { readonly name: string; readonly activation: Activation; readonly input: string },
): string {
  const { name, activation } = block
  const input = narrow(scope, block.input)
  const gate = activate(scope.graph, activation, linear(scope, `${name}.gate_proj`, input))
  const mixed = scope.graph.op('Mul', [gate, linear(scope, `${name}.up_proj`, input)])
  // Massive activations: beyond float16 in real models.
  return wideRangeLinear(scope, `${name}.down_proj`, mixed)
}

export function activate(graph: OnnxGraph, activation: Activation, value: string): string {
  switch (activation) {
    case 'silu':
      return graph.op('QuickGelu', [value], { attributes: { alpha: { float: 1 } }, microsoft: true })
    case 'gelu-tanh':
      return graph.op('FastGelu', [value], { microsoft: true })
    default:
      return activation satisfies never
  }
}
