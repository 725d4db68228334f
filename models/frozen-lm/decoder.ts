/**
 * A decoder as plain data: what every family is described with, and all that graph, tensor check and benchmark know of
 * it. Nothing here names a family. Letters of src/tensor/README.md in brackets.
 */
import type { RopeConfig } from './rope.ts'

export type WeightDtype = 'F32' | 'F16' | 'BF16'

export interface DecoderConfig {
  readonly architecture: string
  /** (d) */
  readonly hiddenSize: number
  readonly layerCount: number
  readonly vocabularySize: number
  /** Most tokens of one sequence. */
  readonly contextLength: number
  /** Dtype of the matrices; null where config.json does not say. */
  readonly weightDtype: WeightDtype | null
  readonly norm: NormConfig
  /** Multiplies the embeddings; part of layer 0. */
  readonly embeddingScale: number
  /** Multiplies what enters the first layer, after layer 0 was read. */
  readonly inputScale: number
  /** Multiplies what each block adds to the residual stream. */
  readonly residualScale: number
  /** Rotary tables that the layers' attention refers to by index. */
  readonly ropes: readonly RopeTableConfig[]
  /** One per layer, from the bottom. */
  readonly layers: readonly LayerConfig[]
  /** From the last layer to logits; hidden states do not need it. */
  readonly head: HeadConfig
}

/** Logits are lm_head(final norm(x)), scaled, then capped. */
export interface HeadConfig {
  /** The embedding matrix is lm_head too; null where config.json does not say: what the files hold decides. */
  readonly tied: boolean | null
  /** Multiplies the logits. */
  readonly scale: number
  /** Logits x become cap * tanh(x / cap); null for none. */
  readonly softCap: number | null
}

/** RMS norm: x / rms(x) * (weightOffset + weight). */
export interface NormConfig {
  readonly epsilon: number
  readonly weightOffset: 0 | 1
}

export interface RopeTableConfig {
  readonly rope: RopeConfig
  /** Leading dimensions of each head that are rotated; even. */
  readonly rotarySize: number
}

export interface LayerConfig {
  readonly norms: LayerNorms
  readonly mixer: AttentionConfig | DeltaNetConfig
  readonly feedForward: DenseConfig | ExpertsConfig
}

/** Name of the norm at each place of a layer, null where there is none. */
export interface LayerNorms {
  readonly beforeMixer: string | null
  readonly afterMixer: string | null
  readonly beforeFeedForward: string | null
  readonly afterFeedForward: string | null
}

/** The Llama placement. */
export const PRE_NORMS: LayerNorms = {
  beforeMixer: 'input_layernorm',
  afterMixer: null,
  beforeFeedForward: 'post_attention_layernorm',
  afterFeedForward: null,
}

export interface AttentionConfig {
  readonly kind: 'attention'
  readonly headCount: number
  readonly keyValueHeadCount: number
  readonly headSize: number
  /** Index into `ropes`; null for a layer without positions. */
  readonly rope: number | null
  /** Multiplies query-key products. */
  readonly scale: number
  /** Scores s become cap * tanh(s / cap); null for none. */
  readonly softCap: number | null
  /** Tokens that a token attends to, itself included; null for all before it. */
  readonly window: number | null
  /** RMS norm of queries and keys before rotation: of each head, or of the whole projection. */
  readonly queryKeyNorm: 'head' | 'projection' | null
  readonly queryKeyValueBias: boolean
  readonly outputBias: boolean
  /** q_proj holds a gate beside each head; the attended values are multiplied by its sigmoid. */
  readonly outputGate: boolean
  /** One matrix `qkv_proj` holds the three projections, one below the other. */
  readonly fusedProjections: boolean
}

/** Gated delta net (arXiv 2412.06464) as Qwen3.5 builds it. */
export interface DeltaNetConfig {
  readonly kind: 'delta-net'
  readonly keyHeadCount: number
  /** A multiple of keyHeadCount. */
  readonly valueHeadCount: number
  readonly keyHeadSize: number
  readonly valueHeadSize: number
  /** Tokens that the causal convolution reads, the newest included. */
  readonly convolutionSize: number
  /** `in_proj_qkvz` and `in_proj_ba` hold the projections, side by side for each key head, as in Qwen3-Next. */
  readonly fusedProjections: boolean
}

export type Activation = 'silu' | 'gelu-tanh'

/** down(activation(gate(x)) * up(x)) */
export interface DenseConfig {
  readonly kind: 'dense'
  readonly size: number
  readonly activation: Activation
  readonly bias: boolean
  /** One matrix `gate_up_proj` holds gate and up, one below the other. */
  readonly fusedProjections: boolean
}

/** The `activeCount` experts of highest probability of each token, weighted by it; each a gated feed-forward. */
export interface ExpertsConfig {
  readonly kind: 'experts'
  readonly expertCount: number
  readonly activeCount: number
  readonly size: number
  readonly activation: Activation
  /** The weights of the chosen experts are divided by their sum. */
  readonly normalised: boolean
  /** Size of an expert that every token uses beside them, times the sigmoid of a gate of its own; null for none. */
  readonly sharedSize: number | null
  /** Two tensors hold all experts, `experts.gate_up_proj` [E, 2 * size, d] and `experts.down_proj` [E, d, size]. */
  readonly stacked: boolean
}

/** What stands before every tensor's name in the plain layout. */
export const PLAIN_PREFIX = 'model.'
export const EMBEDDING = `${PLAIN_PREFIX}embed_tokens.weight`
export const FINAL_NORM = `${PLAIN_PREFIX}norm.weight`
export const LM_HEAD = 'lm_head.weight'

/** Name of a tensor of layer `layer` (0-based, as checkpoints count). */
export function layerTensor(layer: number, name: string): string {
  return `${PLAIN_PREFIX}layers.${layer}.${name}`
}
