/**
 * Causal attention with grouped heads, for every family: onnxruntime's GroupQueryAttention does windows, soft-caps, any
 * scale and any head size that is a multiple of 8, with its flash kernel.
 *
 * Where the rotation happens: inside the operator when it can (head size a multiple of 16, rotated dimensions too), in a
 * RotaryEmbedding node before it otherwise (heads of 24, a quarter of a head of 16, ...). Both measure the same time
 * (reference/frozen-lm.md, section 2: x0.995), so padding such heads to a multiple of 16 would only cost. Heads that are
 * no multiple of 8 (OpenLLaMA's 100) are padded with zeros, which change neither products nor values.
 *
 * What the variants cost (1.30, one thread, 2,048 tokens, hidden size 576, whole layer, CPU time): 24 heads of 24 take
 * x1.14 of 18 heads of 32 with the same products, a window of 256 x0.97 of none, a soft-cap x2.5 (it leaves the flash
 * kernel; its tanh is scalar). Plain operators would cap faster, but their softmax sums in an order that depends on the
 * length of the past, so a target behind a prefix would lose the bits of the full view.
 */

import type { AttentionConfig, RopeTableConfig } from '../decoder.ts'
import { DECODER_NAMES, ropeNames, type StateTensor, stateTensor } from '../decoder-names.ts'
import type { Precision } from '../execution.ts'
import type { GraphVariant } from '../graph-variant.ts'
import { type LayerScope, linear, narrowLinear, rmsNorm } from './layer-scope.ts'
import { narrow, widen } from './precision.ts'
import { type DecoderTensor, linearTensors, parallelTensors, wholeTensor } from './tensor-shapes.ts'

export const ATTENTION_OUTPUT = 'self_attn.o_proj'

/** GroupQueryAttention: "head_size must be a multiple of 8"; with rotary tables 16, and their width a multiple of 8. */
const HEAD_STEP = 8
const ROTARY_STEP = 16

export function* attentionTensors(config: AttentionConfig, hiddenSize: number): Generator<DecoderTensor> {
  const { headCount, keyValueHeadCount, headSize, queryKeyNorm } = config
  const querySize = headCount * headSize
  const keySize = keyValueHeadCount * headSize
  yield* parallelTensors({
    maps: {
      'self_attn.q_proj': config.outputGate ? 2 * querySize : querySize,
      'self_attn.k_proj': keySize,
      'self_attn.v_proj': keySize,
    },
    fusedName: config.fusedProjections ? 'self_attn.qkv_proj' : null,
    inputs: hiddenSize,
    bias: config.queryKeyValueBias,
  })
  if (queryKeyNorm !== null) {
    yield wholeTensor('self_attn.q_norm.weight', [queryKeyNorm === 'head' ? headSize : querySize])
    yield wholeTensor('self_attn.k_norm.weight', [queryKeyNorm === 'head' ? headSize : keySize])
  }
  yield* linearTensors({ name: ATTENTION_OUTPUT, outputs: hiddenSize, inputs: querySize, bias: config.outputBias })
}

/** Keys and values, [1, K, P, D] each. */
export function attentionState(config: AttentionConfig, index: number, dtype: Precision): readonly StateTensor[] {
  const shape = [1, config.keyValueHeadCount, 'P', paddedHeadSize(config)] as const
  return [stateTensor('key', index, { shape, dtype }), stateTensor('value', index, { shape, dtype })]
}

/** Whether the rotation happens before the operator and so needs `first_position`. */
export function rotatesOutside(
  config: AttentionConfig,
  ropes: readonly RopeTableConfig[],
  operator: GraphVariant['operators'],
): boolean {
  if (config.rope === null) return false
  if (operator === 'plain') return true
  const rotarySize = ropes[config.rope]?.rotarySize ?? 0
  return config.headSize % ROTARY_STEP !== 0 || rotarySize % ROTARY_STEP !== 0
}

/**
 * Attended values before the output projection.
 * @param input [1, S, d], normed
 * @returns [1, S, headCount * headSize], narrow
 */
export function attention(
  scope: LayerScope,
  block: { readonly config: AttentionConfig; readonly ropes: readonly RopeTableConfig[]; readonly input: string },
): string {
  const { graph, index } = scope
  const { config, ropes } = block
  const { headCount, keyValueHeadCount } = config
  const input = narrow(scope, block.input)
  const { query: rawQuery, gate } = projectQuery(scope, config, input)
  const outside = rotatesOutside(config, ropes, scope.plainAttention === null ? 'fused' : 'plain')
  const prepare = (value: string, heads: number, norm: string): string => {
    const normed = normQueryKey(scope, { config, value, heads, norm })
    const padded = padHeads(scope, { config, value: normed, heads })
    return outside ? rotate(scope, { config, ropes, value: padded, heads }) : padded
  }
  const query = prepare(rawQuery, headCount, 'self_attn.q_norm')
  const wideKey = prepare(linear(scope, 'self_attn.k_proj', input), keyValueHeadCount, 'self_attn.k_norm')
  const key = narrow(scope, wideKey)
  const rawValue = narrowLinear(scope, 'self_attn.v_proj', input)
  const value = padHeads(scope, { config, value: rawValue, heads: keyValueHeadCount })
  const tables = config.rope === null || outside ? null : ropeNames(config.rope)
  const states = attentionState(config, index, scope.precision)
  const finish = (attended: string): string => {
    const trimmed = trimHeads(scope, config, attended)
    if (gate === null) return trimmed
    return narrow(scope, graph.op('Mul', [widen(scope, trimmed), graph.op('Sigmoid', [gate])]))
  }
  if (scope.plainAttention !== null)
    return finish(
      scope.plainAttention.attend(scope, { config, headSize: paddedHeadSize(config), query, key, value, states }),
    )
  // Both present outputs must be named: without them the operator leaves its flash path (reference, section 2).
  const attended = graph.op(
    'GroupQueryAttention',
    [
      ...[query, key, value],
      ...states.map((state) => state.past),
      ...[DECODER_NAMES.lastPosition, DECODER_NAMES.totalTokens],
      ...(tables === null ? [] : [tables.cos, tables.sin]),
    ],
    {
      attributes: {
        num_heads: { int: headCount },
        kv_num_heads: { int: keyValueHeadCount },
        scale: { float: config.scale },
        ...(tables === null ? {} : { do_rotary: { int: 1 }, rotary_interleaved: { int: 0 } }),
        ...(config.window === null ? {} : { local_window_size: { int: config.window } }),
        ...(config.softCap === null ? {} : { softcap: { float: config.softCap } }),
      },
      outputs: [`attended_${index}`, ...states.map((state) => state.present)],
      microsoft: true,
    },
  )
  return finish(attended)
}

/** [1, S, H * D] each; with a gate, q_proj gives [query, gate] of every head side by side. */
function projectQuery(
  scope: LayerScope,
  config: AttentionConfig,
  input: string,
): { readonly query: string; readonly gate: string | null } {
  const { graph, index } = scope
  const { headCount, headSize } = config
  const projected = linear(scope, 'self_attn.q_proj', input)
  if (!config.outputGate) return { query: projected, gate: null }
  const heads = graph.op('Reshape', [projected, graph.ints([0, 0, headCount, 2 * headSize])])
  const outputs = [`query_${index}`, `gate_${index}`] as const
  graph.op('Split', [heads, graph.ints([headSize, headSize])], { attributes: { axis: { int: 3 } }, outputs })
  const flat = (value: string): string => graph.op('Reshape', [value, graph.ints([0, 0, headCount * headSize])])
  return { query: flat(outputs[0]), gate: flat(outputs[1]) }
}

interface Heads {
  readonly config: AttentionConfig
  /** [1, S, heads * size] */
  readonly value: string
  readonly heads: number
}

function normQueryKey(scope: LayerScope, block: Heads & { readonly norm: string }): string {
  const { config, value, heads, norm } = block
  const { graph } = scope
  if (config.queryKeyNorm === null) return value
  if (config.queryKeyNorm === 'projection') return rmsNorm(scope, norm, value)
  const split = graph.op('Reshape', [value, graph.ints([0, 0, heads, config.headSize])])
  return graph.op('Reshape', [rmsNorm(scope, norm, split), graph.ints([0, 0, heads * config.headSize])])
}

function rotate(scope: LayerScope, block: Heads & { readonly ropes: readonly RopeTableConfig[] }): string {
  const { config, ropes, value, heads } = block
  const rotarySize = ropes[config.rope ?? 0]?.rotarySize ?? 0
  const { cos, sin } = ropeNames(config.rope ?? 0)
  return scope.graph.op('RotaryEmbedding', [value, DECODER_NAMES.firstPosition, cos, sin], {
    attributes: {
      interleaved: { int: 0 },
      num_heads: { int: heads },
      ...(rotarySize === paddedHeadSize(config) ? {} : { rotary_embedding_dim: { int: rotarySize } }),
    },
    microsoft: true,
  })
}

function paddedHeadSize(config: AttentionConfig): number {
  return Math.ceil(config.headSize / HEAD_STEP) * HEAD_STEP
}

function padHeads(scope: LayerScope, block: Heads): string {
  const { config, value, heads } = block
  const { graph } = scope
  const padded = paddedHeadSize(config)
  if (padded === config.headSize) return value
  const split = graph.op('Reshape', [value, graph.ints([0, 0, heads, config.headSize])])
  const filled = graph.op('Pad', [split, graph.ints([0, 0, 0, 0, 0, 0, 0, padded - config.headSize])])
  return graph.op('Reshape', [filled, graph.ints([0, 0, heads * padded])])
}

function trimHeads(scope: LayerScope, config: AttentionConfig, value: string): string {
  const { graph } = scope
  const { headCount, headSize } = config
  const padded = paddedHeadSize(config)
  if (padded === headSize) return value
  const split = graph.op('Reshape', [value, graph.ints([0, 0, headCount, padded])])
  const kept = graph.op('Slice', [split, graph.ints([0]), graph.ints([headSize]), graph.ints([3])])
  return graph.op('Reshape', [kept, graph.ints([0, 0, headCount * headSize])])
}
