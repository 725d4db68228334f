/**
 * A decoder as an ONNX graph, cut after layer L, whose weights point into the checkpoint's files. One graph serves every
 * role: the past may be empty, the present is always computed and fetched only when wanted, and the wanted rows are
 * picked before the last layer's output projection and feed-forward, which then run on those rows alone.
 * Operators, traps and measurements: reference/frozen-lm.md, sections 0 to 4; the blocks say what is special to them.
 */
import { invariant } from '../../src/errors.ts'
import { createOnnxGraph, type OnnxGraph } from '../onnx/onnx-graph.ts'
import { ATTENTION_OUTPUT, attention, attentionState, rotatesOutside } from './blocks/attention.ts'
import { DELTA_NET_OUTPUT, deltaNet, deltaNetState, type KeptTokens, keptTokens } from './blocks/delta-net.ts'
import { experts } from './blocks/experts.ts'
import { feedForward } from './blocks/feed-forward.ts'
import { type LayerScope, linear, rmsNorm } from './blocks/layer-scope.ts'
import { createPlainAttention } from './blocks/plain-attention.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { DecoderConfig, LayerConfig } from './decoder.ts'
import { DECODER_NAMES, ropeNames, type StateTensor } from './decoder-names.ts'
import type { Precision } from './execution.ts'
import { CPU_VARIANT, type GraphVariant } from './graph-variant.ts'
import { createWeights } from './weights.ts'

/**
 * @param layer L, 0 <= L <= layerCount; 0 gives the embeddings and takes only `tokens` and `rows`
 * @returns an encoded ONNX model; external locations are relative to `checkpoint.root`
 */
export function buildDecoderGraph(
  checkpoint: Checkpoint,
  layer: number,
  variant: GraphVariant = CPU_VARIANT,
): Uint8Array {
  const { config } = checkpoint
  const graph = createOnnxGraph(`${config.architecture}-${layer}`)
  const weights = createWeights(graph, checkpoint, variant)
  const names = DECODER_NAMES
  graph.input(names.tokens, 'i64', [1, 'S'])
  graph.input(names.rows, 'i64', ['M'])
  declareLayerInputs(graph, { config, layer, variant })
  const kept = hasDeltaNet(config, layer) ? keptTokens(graph) : null

  const { precision } = variant
  invariant(precision === 'f32' || variant.operators === 'plain', 'a float16 graph is in plain operators')
  const plainAttention = variant.operators === 'plain' ? createPlainAttention(graph) : null
  let stream = scaled(graph, weights.embed(names.tokens), config.embeddingScale)
  if (layer > 0) stream = scaled(graph, stream, config.inputScale)
  for (const [index, block] of config.layers.slice(0, layer).entries()) {
    const scope: LayerScope = { graph, weights, norm: config.norm, precision, plainAttention, index }
    let mixed = mix(scope, { layer: block, config, kept, input: normed(scope, block.norms.beforeMixer, stream) })
    if (index === layer - 1) {
      mixed = { ...mixed, value: pickRows(graph, mixed.value, mixed.size) }
      stream = pickRows(graph, stream, config.hiddenSize)
    }
    const attended = normed(scope, block.norms.afterMixer, linear(scope, mixed.projection, mixed.value))
    stream = graph.op('Add', [stream, scaled(graph, attended, config.residualScale)])
    const fed = feed(scope, { layer: block, config, kept, input: normed(scope, block.norms.beforeFeedForward, stream) })
    const added = scaled(graph, normed(scope, block.norms.afterFeedForward, fed), config.residualScale)
    stream = graph.op('Add', [stream, added])
  }
  if (layer === 0) stream = pickRows(graph, stream, config.hiddenSize)
  graph.op('Reshape', [stream, graph.ints([-1, config.hiddenSize])], { outputs: [names.hidden] })
  graph.output(names.hidden, 'f32', ['M', config.hiddenSize])
  return graph.encode()
}

/** What the first `layer` layers hand from run to run: keys and values in the graph's precision, recurrent states f32. */
export function decoderStates(
  config: DecoderConfig,
  layer: number,
  precision: Precision = 'f32',
): readonly StateTensor[] {
  return config.layers
    .slice(0, layer)
    .flatMap(({ mixer }, index) =>
      mixer.kind === 'attention' ? attentionState(mixer, index, precision) : deltaNetState(mixer, index),
    )
}

function declareLayerInputs(
  graph: OnnxGraph,
  run: { readonly config: DecoderConfig; readonly layer: number; readonly variant: GraphVariant },
): void {
  const { config, layer } = run
  const { operators, precision } = run.variant
  const names = DECODER_NAMES
  const attentions = config.layers.slice(0, layer).flatMap(({ mixer }) => (mixer.kind === 'attention' ? [mixer] : []))
  if (attentions.length > 0 && operators === 'plain') {
    graph.input(names.queryPositions, 'f32', ['S', 1])
    graph.input(names.keyPositions, 'f32', [1, 'T'])
  } else if (attentions.length > 0) {
    graph.input(names.lastPosition, 'i32', [1])
    graph.input(names.totalTokens, 'i32', [])
  }
  if (attentions.some((mixer) => rotatesOutside(mixer, config.ropes, operators)))
    graph.input(names.firstPosition, 'i64', [1])
  if (hasDeltaNet(config, layer)) graph.input(names.keptTokens, 'i64', [1])
  for (const [index, { rotarySize }] of config.ropes.entries()) {
    if (attentions.every((mixer) => mixer.rope !== index)) continue
    for (const name of Object.values(ropeNames(index))) graph.input(name, 'f32', ['R', rotarySize / 2])
  }
  for (const { past, present, shape, dtype } of decoderStates(config, layer, precision)) {
    graph.input(past, dtype, shape)
    graph.output(
      present,
      dtype,
      shape.map((size) => (size === 'P' ? 'T' : size)),
    )
  }
}

function hasDeltaNet(config: DecoderConfig, layer: number): boolean {
  return config.layers.slice(0, layer).some(({ mixer }) => mixer.kind === 'delta-net')
}

interface Part {
  readonly layer: LayerConfig
  readonly config: DecoderConfig
  /** null where no layer of the graph is a delta net. */
  readonly kept: KeptTokens | null
  readonly input: string
}

/** What the tokens tell each other, before the projection back into the stream. */
function mix(
  scope: LayerScope,
  part: Part,
): { readonly value: string; readonly size: number; readonly projection: string } {
  const { input } = part
  const { mixer } = part.layer
  if (mixer.kind === 'delta-net') {
    const size = mixer.valueHeadCount * mixer.valueHeadSize
    const kept = invariant(part.kept, 'a graph with a delta net knows which tokens count')
    return { value: deltaNet(scope, { config: mixer, kept, input }), size, projection: DELTA_NET_OUTPUT }
  }
  const value = attention(scope, { config: mixer, ropes: part.config.ropes, input })
  return { value, size: mixer.headCount * mixer.headSize, projection: ATTENTION_OUTPUT }
}

function feed(scope: LayerScope, part: Part): string {
  const { input } = part
  const { feedForward: block } = part.layer
  return block.kind === 'dense'
    ? feedForward(scope, { name: 'mlp', activation: block.activation, input })
    : experts(scope, { config: block, hiddenSize: part.config.hiddenSize, input })
}

function normed(scope: LayerScope, norm: string | null, value: string): string {
  return norm === null ? value : rmsNorm(scope, norm, value)
}

function scaled(graph: OnnxGraph, value: string, factor: number): string {
  return factor === 1 ? value : graph.op('Mul', [value, graph.scalar(factor)])
}

/** [1, S, size] -> [1, M, size] */
function pickRows(graph: OnnxGraph, value: string, size: number): string {
  const flat = graph.op('Reshape', [value, graph.ints([-1, size])])
  const picked = graph.op('Gather', [flat, DECODER_NAMES.rows], { attributes: { axis: { int: 0 } } })
  return graph.op('Reshape', [picked, graph.ints([1, -1, size])])
}
