/**
 * Gated delta net (arXiv 2412.06464) as Qwen3.5 builds it: a short causal convolution, then a recurrence over a matrix
 * per head, S <- exp(g) S + beta k (v - exp(g) S^T k)^T, o = S^T q / sqrt(d_k), and a gated norm of each head.
 *
 * onnxruntime has com.microsoft operators for all of it, right to 2e-7 against float64 loops. Two of them are slower on
 * CPU than plain operators and not used (1.30, one thread, 1,024 tokens in the shape of Qwen3.5-0.8B, CPU time):
 * CausalConvWithState 190 ms against 68 ms of four shifted products, GatedRMSNorm 63 ms against 14 ms of norm, SiLU and
 * product. LinearAttention takes 104 ms of some 700 ms that the layer takes, LinearAttentionGate 1 ms.
 *
 * A run may be lengthened by tokens that nothing reads (run-shape.ts). A recurrence would swallow them, so they get a
 * decay and an update rate of 0, which leave the matrix as it is to the last bit, and the convolution's state is taken
 * from the tokens before them.
 */
import { ONNX_DTYPE, type OnnxGraph } from '../../onnx/onnx-graph.ts'
import type { DeltaNetConfig } from '../decoder.ts'
import { DECODER_NAMES, type StateTensor, stateTensor } from '../decoder-names.ts'
import { activate } from './feed-forward.ts'
import { type LayerScope, layerWeight, linear, normalise } from './layer-scope.ts'
import { narrow } from './precision.ts'
import { type DecoderTensor, linearTensors, wholeTensor } from './tensor-shapes.ts'

export const DELTA_NET_OUTPUT = 'linear_attn.out_proj'

/** Added to the squared length of queries and keys before its root. */
const LENGTH_EPSILON = 1e-6

function sizesOf(config: DeltaNetConfig) {
  const keySize = config.keyHeadCount * config.keyHeadSize
  const valueSize = config.valueHeadCount * config.valueHeadSize
  return { keySize, valueSize, channels: 2 * keySize + valueSize }
}

/** The tokens of a run that count; those after them are padding. */
export interface KeptTokens {
  /** [1] i64 */
  readonly count: string
  /** [1, S, 1] f32: 1 for tokens that count, 0 for padding. */
  readonly mask: string
}

/** One node chain for all layers of a graph. */
export function keptTokens(graph: OnnxGraph): KeptTokens {
  const count = DECODER_NAMES.keptTokens
  const zero = graph.constant('zero', 'i64', [], BigInt64Array.of(0n))
  const one = graph.constant('one', 'i64', [], BigInt64Array.of(1n))
  const length = graph.op('Squeeze', [
    graph.op('Slice', [graph.op('Shape', [DECODER_NAMES.tokens]), graph.ints([1]), graph.ints([2])]),
  ])
  const isKept = graph.op('Less', [graph.op('Range', [zero, length, one]), count])
  const flat = graph.op('Cast', [isKept], { attributes: { to: { int: ONNX_DTYPE.f32 } } })
  return { count, mask: graph.op('Reshape', [flat, graph.ints([1, -1, 1])]) }
}

export function* deltaNetTensors(config: DeltaNetConfig, hiddenSize: number): Generator<DecoderTensor> {
  const { valueHeadCount, valueHeadSize, convolutionSize } = config
  const { valueSize, channels } = sizesOf(config)
  const outputs = config.fusedProjections
    ? { in_proj_qkvz: channels + valueSize, in_proj_ba: 2 * valueHeadCount }
    : { in_proj_qkv: channels, in_proj_z: valueSize, in_proj_a: valueHeadCount, in_proj_b: valueHeadCount }
  for (const [name, count] of Object.entries(outputs))
    yield* linearTensors({ name: `linear_attn.${name}`, outputs: count, inputs: hiddenSize, bias: false })
  yield wholeTensor('linear_attn.conv1d.weight', [channels, 1, convolutionSize])
  yield wholeTensor('linear_attn.A_log', [valueHeadCount])
  yield wholeTensor('linear_attn.dt_bias', [valueHeadCount])
  yield wholeTensor('linear_attn.norm.weight', [valueHeadSize])
  yield* linearTensors({ name: DELTA_NET_OUTPUT, outputs: hiddenSize, inputs: valueSize, bias: false })
}

/** The convolution's last inputs and the recurrent matrix of each value head. */
export function deltaNetState(config: DeltaNetConfig, index: number): readonly StateTensor[] {
  const { valueHeadCount, keyHeadSize, valueHeadSize, convolutionSize } = config
  return [
    stateTensor('convolution', index, { shape: [1, convolutionSize - 1, sizesOf(config).channels] }),
    stateTensor('recurrent', index, { shape: [1, valueHeadCount, keyHeadSize, valueHeadSize] }),
  ]
}

/**
 * Values before the output projection.
 * @param input [1, S, d], normed
 * @returns [1, S, valueHeadCount * valueHeadSize], narrow
 */
export function deltaNet(
  scope: LayerScope,
  block: { readonly config: DeltaNetConfig; readonly kept: KeptTokens; readonly input: string },
): string {
  const { graph, index } = scope
  const { config, kept } = block
  const { keyHeadCount, valueHeadCount, keyHeadSize } = config
  const input = narrow(scope, block.input)
  const { channels, gate, decay, rate } = project(scope, config, input)
  const { query, key, value, recurrent } = convolve(scope, { config, kept, channels })
  const gates = [`decay_${index}`, `update_rate_${index}`] as const
  graph.op(
    'LinearAttentionGate',
    [
      decay,
      layerWeight(scope, 'linear_attn.dt_bias'),
      graph.op('Neg', [graph.op('Exp', [layerWeight(scope, 'linear_attn.A_log')])]),
      rate,
    ],
    { outputs: gates, microsoft: true },
  )
  const masked = gates.map((gate) => graph.op('Mul', [gate, kept.mask]))
  const recalled = graph.op('LinearAttention', [query, key, value, recurrent.past, ...masked], {
    attributes: {
      update_rule: { text: 'gated_delta' },
      q_num_heads: { int: keyHeadCount },
      kv_num_heads: { int: valueHeadCount },
      scale: { float: 1 / Math.sqrt(keyHeadSize) },
    },
    outputs: [`recalled_${index}`, recurrent.present],
    microsoft: true,
  })
  return narrow(scope, gatedNorm(scope, { config, recalled, gate }))
}

/**
 * What the input is mapped to: channels [1, S, 2 K + V] of the convolution, gates of the values, and decay and update rate
 * of each value head. Fused matrices give them side by side for each key head.
 */
function project(scope: LayerScope, config: DeltaNetConfig, input: string) {
  const map = (name: string): string => linear(scope, `linear_attn.${name}`, input)
  if (!config.fusedProjections)
    return { channels: map('in_proj_qkv'), gate: map('in_proj_z'), decay: map('in_proj_a'), rate: map('in_proj_b') }
  const { graph, index } = scope
  const { keyHeadCount, valueHeadCount, keyHeadSize, valueHeadSize } = config
  const share = valueHeadCount / keyHeadCount
  const unfuse = (name: string, sizes: readonly number[]): readonly string[] => {
    const width = sizes.reduce((sum, size) => sum + size, 0)
    const heads = graph.op('Reshape', [map(name), graph.ints([0, 0, keyHeadCount, width])])
    const outputs = sizes.map((_, i) => `${name}_${index}_${i}`)
    graph.op('Split', [heads, graph.ints(sizes)], { attributes: { axis: { int: 3 } }, outputs })
    return outputs.map((output, i) => graph.op('Reshape', [output, graph.ints([0, 0, keyHeadCount * (sizes[i] ?? 0)])]))
  }
  const valueWidth = share * valueHeadSize
  const [query = '', key = '', value = '', gate = ''] = unfuse('in_proj_qkvz', [
    ...[keyHeadSize, keyHeadSize],
    ...[valueWidth, valueWidth],
  ])
  const [rate = '', decay = ''] = unfuse('in_proj_ba', [share, share])
  return { channels: graph.op('Concat', [query, key, value], { attributes: { axis: { int: 2 } } }), gate, decay, rate }
}

/** The norm of each head, with weights stored as they are whatever the family's other norms do, times SiLU of the gate. */
function gatedNorm(
  scope: LayerScope,
  block: { readonly config: DeltaNetConfig; readonly recalled: string; readonly gate: string },
): string {
  const { graph, norm } = scope
  const { config, recalled, gate } = block
  const { valueHeadCount, valueHeadSize } = config
  const heads = graph.op('Reshape', [recalled, graph.ints([0, 0, valueHeadCount, valueHeadSize])])
  const scale = layerWeight(scope, 'linear_attn.norm.weight')
  const normed = normalise(graph, { input: heads, scale, epsilon: norm.epsilon })
  const flat = graph.op('Reshape', [normed, graph.ints([0, 0, valueHeadCount * valueHeadSize])])
  return graph.op('Mul', [flat, activate(graph, 'silu', gate)])
}

/** Queries and keys of length 1 and values, [1, S, heads * size] each, after convolution and SiLU. */
function convolve(
  scope: LayerScope,
  block: { readonly config: DeltaNetConfig; readonly kept: KeptTokens; readonly channels: string },
) {
  const { graph, index } = scope
  const { config, kept, channels } = block
  const { keySize, valueSize } = sizesOf(config)
  const [convolution, recurrent] = deltaNetState(config, index) as [StateTensor, StateTensor]
  const joined = graph.op('Concat', [convolution.past, channels], { attributes: { axis: { int: 1 } } })
  // Row r of a run stands at r + positions: the state ends with the last kept token.
  const positions = config.convolutionSize - 1
  const end = graph.op('Add', [kept.count, graph.ints([positions])])
  graph.op('Slice', [joined, kept.count, end, graph.ints([1])], { outputs: [convolution.present] })
  const mixed = activate(graph, 'silu', shiftedProducts(scope, joined, positions))
  const outputs = [`delta_query_${index}`, `delta_key_${index}`, `delta_value_${index}`] as const
  graph.op('Split', [mixed, graph.ints([keySize, keySize, valueSize])], { attributes: { axis: { int: 2 } }, outputs })
  const [query, key, value] = outputs
  return { query: unitHeads(scope, config, query), key: unitHeads(scope, config, key), value, recurrent }
}

/**
 * The depthwise convolution as a sum over its taps: [1, positions + S, C] -> [1, S, C]. Element by element, so a token's
 * bits do not depend on the run it stands in.
 */
function shiftedProducts(scope: LayerScope, joined: string, positions: number): string {
  const { graph } = scope
  const kernel = layerWeight(scope, 'linear_attn.conv1d.weight')
  // [C, 1, K] -> [K, 1, C]
  const taps = graph.op('Transpose', [kernel], { attributes: { perm: { ints: [2, 1, 0] } } })
  const products = Array.from({ length: positions + 1 }, (_, tap) => {
    const end = tap === positions ? Number.MAX_SAFE_INTEGER : tap - positions
    const shifted = graph.op('Slice', [joined, graph.ints([tap]), graph.ints([end]), graph.ints([1])])
    const weight = graph.op('Gather', [taps, graph.ints([tap])], { attributes: { axis: { int: 0 } } })
    return graph.op('Mul', [shifted, weight])
  })
  return products.reduce((sum, product) => graph.op('Add', [sum, product]))
}

/** Each head over its length. As an RMS norm: x / |x| = x / rms(x) / sqrt(d_k). */
function unitHeads(scope: LayerScope, config: DeltaNetConfig, value: string): string {
  const { graph } = scope
  const { keyHeadCount, keyHeadSize } = config
  const scale = new Float32Array(keyHeadSize).fill(1 / Math.sqrt(keyHeadSize))
  const heads = graph.op('Reshape', [value, graph.ints([0, 0, keyHeadCount, keyHeadSize])])
  const unit = normalise(graph, {
    input: heads,
    scale: graph.constant('unit_length', 'f32', [keyHeadSize], scale),
    epsilon: LENGTH_EPSILON / keyHeadSize,
  })
  return graph.op('Reshape', [unit, graph.ints([0, 0, keyHeadCount * keyHeadSize])])
}
