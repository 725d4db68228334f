/**
 * A family: the architectures that one description builds. The description turns a config.json into a DecoderConfig,
 * mostly by saying where its layers differ from the plain ones below. docs/models.md walks through a new one.
 */
import { type DecoderFields, LARGEST_HEAD } from '../config-fields.schema.ts'
import type { Activation, AttentionConfig, DecoderConfig, DenseConfig, LayerConfig, WeightDtype } from '../decoder.ts'
import type { ConfigSource } from './config-source.ts'

export interface Family {
  /** Names in `architectures` of config.json. */
  readonly architectures: readonly string[]
  /** `model_type` of the text part inside of a multimodal wrapper's config. */
  readonly modelTypes: readonly string[]
  /** @throws config-invalid */
  readonly describe: (source: ConfigSource) => DecoderConfig
}

const DTYPES: Readonly<Record<string, WeightDtype>> = { float32: 'F32', float16: 'F16', bfloat16: 'BF16' }
const ACTIVATIONS: Readonly<Record<string, Activation>> = { silu: 'silu', gelu_pytorch_tanh: 'gelu-tanh' }

/** A decoder without special scales; `layerAt` describes each layer by its 0-based index. */
export function plainDecoder(
  source: ConfigSource,
  fields: DecoderFields,
  parts: { readonly ropes: DecoderConfig['ropes']; readonly layerAt: (index: number) => LayerConfig },
): DecoderConfig {
  if (fields.quantization_config !== undefined && fields.quantization_config !== null)
    throw source.refuse(
      'quantization_config is set: quantised checkpoints are not read, take the F32, F16 or BF16 weights',
    )
  return {
    architecture: source.architecture,
    hiddenSize: fields.hidden_size,
    layerCount: fields.num_hidden_layers,
    vocabularySize: fields.vocab_size,
    contextLength: fields.max_position_embeddings,
    weightDtype: weightDtype(source, fields),
    norm: { epsilon: fields.rms_norm_eps, weightOffset: 0 },
    embeddingScale: 1,
    inputScale: 1,
    residualScale: 1,
    ropes: parts.ropes,
    layers: Array.from({ length: fields.num_hidden_layers }, (_, index) => parts.layerAt(index)),
    head: { tied: fields.tie_word_embeddings ?? null, scale: 1, softCap: null },
  }
}

/** Grouped heads over everything before, rotated by table 0, scores over the root of the head size. */
export function plainAttention(source: ConfigSource, fields: DecoderFields): AttentionConfig {
  const headCount = fields.num_attention_heads
  const keyValueHeadCount = fields.num_key_value_heads ?? headCount
  if (headCount % keyValueHeadCount !== 0)
    throw source.refuse(`num_attention_heads ${headCount} is no multiple of num_key_value_heads ${keyValueHeadCount}`)
  const headSize = fields.head_dim ?? fields.hidden_size / headCount
  if (!Number.isInteger(headSize))
    throw source.refuse(`hidden_size ${fields.hidden_size} is no multiple of num_attention_heads ${headCount}`)
  if (headSize > LARGEST_HEAD)
    throw source.refuse(`the size of a head is ${headSize}, at most ${LARGEST_HEAD} is supported`)
  return {
    kind: 'attention',
    headCount,
    keyValueHeadCount,
    headSize,
    rope: 0,
    scale: 1 / Math.sqrt(headSize),
    softCap: null,
    window: null,
    queryKeyNorm: null,
    queryKeyValueBias: false,
    outputBias: false,
    outputGate: false,
    fusedProjections: false,
  }
}

export function plainFeedForward(source: ConfigSource, fields: DecoderFields): DenseConfig {
  return {
    kind: 'dense',
    size: fields.intermediate_size,
    activation: activationOf(source, fields.hidden_act),
    bias: false,
    fusedProjections: false,
  }
}

export function activationOf(source: ConfigSource, name: string): Activation {
  const activation = Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name] : undefined
  if (activation !== undefined) return activation
  const known = Object.keys(ACTIVATIONS).join(', ')
  throw source.refuse(`hidden_act ${name} is not supported for ${source.architecture}, only ${known}`)
}

function weightDtype(source: ConfigSource, fields: DecoderFields): WeightDtype | null {
  const name = fields.dtype ?? fields.torch_dtype
  if (name === null || name === undefined || name === 'auto') return null
  const dtype = Object.hasOwn(DTYPES, name) ? DTYPES[name] : undefined
  if (dtype === undefined) throw source.refuse(`dtype ${name} is not supported, only ${Object.keys(DTYPES).join(', ')}`)
  return dtype
}
