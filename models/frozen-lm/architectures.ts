/**
 * The decoder architectures we can build, each as a description of how it differs from plain Llama, and the tensors that
 * a checkpoint of it must hold. Verified against golden hidden states of models/families.
 */
import type { RopeConfig } from './rope.ts'

export type WeightDtype = 'F32' | 'F16' | 'BF16'

/** A decoder as config.json describes it; letters of src/tensor/README.md in brackets. */
export interface DecoderConfig {
  readonly architecture: string
  /** (d) */
  readonly hiddenSize: number
  readonly layerCount: number
  readonly headCount: number
  readonly keyValueHeadCount: number
  readonly headSize: number
  readonly feedForwardSize: number
  readonly vocabularySize: number
  /** Most tokens of one sequence. */
  readonly contextLength: number
  readonly normEpsilon: number
  readonly rope: RopeConfig
  /** Dtype of the matrices; null where config.json does not say. */
  readonly weightDtype: WeightDtype | null
  readonly queryKeyValueBias: boolean
  readonly outputBias: boolean
  readonly feedForwardBias: boolean
  /** RMS norm of each query and key head before rotation. */
  readonly headNorm: boolean
  /** Tokens that a token attends to, itself included; null for all before it. */
  readonly attentionWindow: number | null
}

/** `config`: config.json's attention_bias / mlp_bias decides. */
type Presence = 'always' | 'never' | 'config'

export interface Architecture {
  readonly queryKeyValueBias: Presence
  readonly outputBias: Presence
  readonly feedForwardBias: Presence
  readonly headNorm: boolean
  /** Which fields of config.json switch a sliding window on. */
  readonly window: 'never' | 'sliding_window' | 'use_sliding_window'
}

export const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  LlamaForCausalLM: {
    queryKeyValueBias: 'config',
    outputBias: 'config',
    feedForwardBias: 'config',
    headNorm: false,
    window: 'never',
  },
  MistralForCausalLM: {
    queryKeyValueBias: 'never',
    outputBias: 'never',
    feedForwardBias: 'never',
    headNorm: false,
    window: 'sliding_window',
  },
  Qwen2ForCausalLM: {
    queryKeyValueBias: 'always',
    outputBias: 'never',
    feedForwardBias: 'never',
    headNorm: false,
    window: 'use_sliding_window',
  },
  Qwen3ForCausalLM: {
    queryKeyValueBias: 'config',
    outputBias: 'config',
    feedForwardBias: 'never',
    headNorm: true,
    window: 'use_sliding_window',
  },
}

export const EMBEDDING = 'model.embed_tokens.weight'

/** Name of a tensor of layer `layer` (0-based, as checkpoints count). */
export function layerTensor(layer: number, name: string): string {
  return `model.layers.${layer}.${name}`
}

/** Every tensor the decoder reads, with the shape config.json implies. The final norm and lm_head are not read. */
export function decoderTensors(config: DecoderConfig): ReadonlyMap<string, readonly number[]> {
  const { hiddenSize, feedForwardSize, headSize } = config
  const querySize = config.headCount * headSize
  const keySize = config.keyValueHeadCount * headSize
  const shapes = new Map<string, readonly number[]>([[EMBEDDING, [config.vocabularySize, hiddenSize]]])
  const linear = (name: string, outputs: number, inputs: number, bias: boolean): void => {
    shapes.set(`${name}.weight`, [outputs, inputs])
    if (bias) shapes.set(`${name}.bias`, [outputs])
  }
  for (let layer = 0; layer < config.layerCount; layer++) {
    const at = (name: string): string => layerTensor(layer, name)
    shapes.set(at('input_layernorm.weight'), [hiddenSize])
    linear(at('self_attn.q_proj'), querySize, hiddenSize, config.queryKeyValueBias)
    linear(at('self_attn.k_proj'), keySize, hiddenSize, config.queryKeyValueBias)
    linear(at('self_attn.v_proj'), keySize, hiddenSize, config.queryKeyValueBias)
    if (config.headNorm) {
      shapes.set(at('self_attn.q_norm.weight'), [headSize])
      shapes.set(at('self_attn.k_norm.weight'), [headSize])
    }
    linear(at('self_attn.o_proj'), hiddenSize, querySize, config.outputBias)
    shapes.set(at('post_attention_layernorm.weight'), [hiddenSize])
    linear(at('mlp.gate_proj'), feedForwardSize, hiddenSize, config.feedForwardBias)
    linear(at('mlp.up_proj'), feedForwardSize, hiddenSize, config.feedForwardBias)
    linear(at('mlp.down_proj'), hiddenSize, feedForwardSize, config.feedForwardBias)
  }
  return shapes
}
