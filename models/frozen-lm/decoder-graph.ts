/**
 * The decoder as an ONNX graph, cut after layer L, whose weights point into the checkpoint's files. One graph serves
 * every role: the past may be empty, the present is always computed and fetched only when wanted, and the wanted rows
 * are picked before the last layer's output projection and MLP, which then run on those rows alone.
 * Operators, traps and measurements: reference/frozen-lm.md, sections 0 to 4.
 */
import { relative, sep } from 'node:path'
import { invariant } from '../../src/errors.ts'
import { createOnnxGraph, ONNX_DTYPE, type OnnxDtype, type OnnxGraph } from '../onnx/onnx-graph.ts'
import { type DecoderConfig, EMBEDDING, layerTensor, type WeightDtype } from './architectures.ts'
import type { Checkpoint } from './checkpoint.ts'

const ONNX_NAME = { F32: 'f32', F16: 'f16', BF16: 'bf16' } as const satisfies Record<WeightDtype, OnnxDtype>

/**
 * Names of the graph's inputs and outputs. Shapes: S tokens of this run, P past tokens, M wanted rows, K key-value
 * heads, D head size, R >= P + S rows of the rotary table.
 */
export const DECODER_NAMES = {
  /** [1, S] i64 */
  tokens: 'tokens',
  /** [M] i64, positions within this run's tokens */
  rows: 'rows',
  /** [1] i32: P + S - 1 */
  lastPosition: 'last_position',
  /** [] i32: P + S */
  totalTokens: 'total_tokens',
  /** [R, D / 2] f32 */
  ropeCos: 'rope_cos',
  ropeSin: 'rope_sin',
  /** [M, d] f32 */
  hidden: 'hidden',
} as const

/** Key and value of each layer: [1, K, P, D] in, [1, K, P + S, D] out. */
export function pastNames(layer: number): readonly [string, string] {
  return [`past_key_${layer}`, `past_value_${layer}`]
}
export function presentNames(layer: number): readonly [string, string] {
  return [`present_key_${layer}`, `present_value_${layer}`]
}

/**
 * @param layer L, 0 <= L <= layerCount; 0 gives the embeddings and takes only `tokens` and `rows`
 * @returns an encoded ONNX model; external locations are relative to `checkpoint.root`
 */
export function buildDecoderGraph(checkpoint: Checkpoint, layer: number): Uint8Array {
  const { config } = checkpoint
  const graph = createOnnxGraph(`${config.architecture}-${layer}`)
  const weights = createWeights(graph, checkpoint)
  const names = DECODER_NAMES
  graph.input(names.tokens, 'i64', [1, 'S'])
  graph.input(names.rows, 'i64', ['M'])
  if (layer > 0) declareAttentionInputs(graph, config, layer)

  let stream = weights.embed(names.tokens)
  for (let index = 0; index < layer; index++) {
    const normed = rmsNorm(graph, config, stream, weights.load(layerTensor(index, 'input_layernorm.weight')))
    let attended = attention({ graph, weights, config, index, input: normed })
    if (index === layer - 1) {
      attended = pickRows(graph, attended, config.headCount * config.headSize)
      stream = pickRows(graph, stream, config.hiddenSize)
    }
    const mixed = linear({ graph, weights, name: layerTensor(index, 'self_attn.o_proj'), input: attended })
    stream = graph.op('Add', [stream, mixed])
    stream = graph.op('Add', [stream, feedForward({ graph, weights, config, index, input: stream })])
  }
  if (layer === 0) stream = pickRows(graph, stream, config.hiddenSize)
  graph.op('Reshape', [stream, graph.ints([-1, config.hiddenSize])], { outputs: [names.hidden] })
  graph.output(names.hidden, 'f32', ['M', config.hiddenSize])
  return graph.encode()
}

function declareAttentionInputs(graph: OnnxGraph, config: DecoderConfig, layer: number): void {
  const { keyValueHeadCount, headSize } = config
  const names = DECODER_NAMES
  graph.input(names.lastPosition, 'i32', [1])
  graph.input(names.totalTokens, 'i32', [])
  graph.input(names.ropeCos, 'f32', ['R', headSize / 2])
  graph.input(names.ropeSin, 'f32', ['R', headSize / 2])
  for (let index = 0; index < layer; index++) {
    for (const name of pastNames(index)) graph.input(name, 'f32', [1, keyValueHeadCount, 'P', headSize])
    for (const name of presentNames(index)) graph.output(name, 'f32', [1, keyValueHeadCount, 'T', headSize])
  }
}

interface Weights {
  readonly has: (name: string) => boolean
  /** Name of the tensor as f32; a cast of a half-precision one is folded when the session loads. */
  readonly load: (name: string) => string
  /** Embeddings of the tokens: gathered raw and widened afterwards, so that only used rows are read. */
  readonly embed: (tokens: string) => string
}

function createWeights(graph: OnnxGraph, checkpoint: Checkpoint): Weights {
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

interface Block {
  readonly graph: OnnxGraph
  readonly weights: Weights
  readonly input: string
}
type LayerBlock = Block & { readonly config: DecoderConfig; readonly index: number }

/** [1, S, in] x [out, in]^T (+ bias): straight on the checkpoint's layout. */
function linear(block: Block & { readonly name: string }): string {
  const { graph, weights, name, input } = block
  const product = graph.op('FusedMatMul', [input, weights.load(`${name}.weight`)], {
    attributes: { transB: { int: 1 } },
    microsoft: true,
  })
  return weights.has(`${name}.bias`) ? graph.op('Add', [product, weights.load(`${name}.bias`)]) : product
}

function rmsNorm(graph: OnnxGraph, config: DecoderConfig, input: string, scale: string): string {
  return graph.op('SimplifiedLayerNormalization', [input, scale], {
    attributes: { axis: { int: -1 }, epsilon: { float: config.normEpsilon }, stash_type: { int: 1 } },
  })
}

/** Both present outputs must be named: without them the operator leaves its flash path (reference, section 2). */
function attention(block: LayerBlock): string {
  const { graph, weights, config, index, input } = block
  const project = (name: string): string =>
    linear({ graph, weights, input, name: layerTensor(index, `self_attn.${name}`) })
  const perHead = (value: string, heads: number, scale: string): string => {
    if (!config.headNorm) return value
    const split = graph.op('Reshape', [value, graph.ints([0, 0, heads, config.headSize])])
    const normed = rmsNorm(graph, config, split, weights.load(layerTensor(index, `self_attn.${scale}.weight`)))
    return graph.op('Reshape', [normed, graph.ints([0, 0, heads * config.headSize])])
  }
  const query = perHead(project('q_proj'), config.headCount, 'q_norm')
  const key = perHead(project('k_proj'), config.keyValueHeadCount, 'k_norm')
  const { lastPosition, totalTokens, ropeCos, ropeSin } = DECODER_NAMES
  return graph.op(
    'GroupQueryAttention',
    [query, key, project('v_proj'), ...pastNames(index), lastPosition, totalTokens, ropeCos, ropeSin],
    {
      attributes: {
        num_heads: { int: config.headCount },
        kv_num_heads: { int: config.keyValueHeadCount },
        scale: { float: 1 / Math.sqrt(config.headSize) },
        do_rotary: { int: 1 },
        rotary_interleaved: { int: 0 },
        ...(config.attentionWindow === null ? {} : { local_window_size: { int: config.attentionWindow } }),
      },
      outputs: [`attended_${index}`, ...presentNames(index)],
      microsoft: true,
    },
  )
}

/** down(silu(gate(x)) * up(x)) of the normed stream. */
function feedForward(block: LayerBlock): string {
  const { graph, weights, config, index, input } = block
  const scale = weights.load(layerTensor(index, 'post_attention_layernorm.weight'))
  const normed = rmsNorm(graph, config, input, scale)
  const project = (name: string, value: string): string =>
    linear({ graph, weights, input: value, name: layerTensor(index, `mlp.${name}`) })
  const gate = graph.op('QuickGelu', [project('gate_proj', normed)], {
    attributes: { alpha: { float: 1 } },
    microsoft: true,
  })
  return project('down_proj', graph.op('Mul', [gate, project('up_proj', normed)]))
}

/** [1, S, size] -> [1, M, size] */
function pickRows(graph: OnnxGraph, value: string, size: number): string {
  const flat = graph.op('Reshape', [value, graph.ints([-1, size])])
  const picked = graph.op('Gather', [flat, DECODER_NAMES.rows], { attributes: { axis: { int: 0 } } })
  return graph.op('Reshape', [picked, graph.ints([1, -1, size])])
}
