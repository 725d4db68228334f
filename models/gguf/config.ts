/** config.json (the version 4 spelling) from the metadata and tensor directory of a GGUF file. */
import { AppError } from '../../src/errors.ts'
import { GGUF_ARCHITECTURES, type GgufArchitecture } from './architectures.ts'
import { type MetadataReader, required } from './metadata.ts'

/** The largest head of a known model has 256 dimensions. */
const MAX_HEAD_SIZE = 4096

export interface GgufModel {
  readonly architecture: GgufArchitecture
  readonly headCount: number
  readonly keyValueHeadCount: number
  readonly headSize: number
  readonly layerCount: number
  /** config.json without `torch_dtype`, which the conversion decides. */
  readonly config: Readonly<Record<string, unknown>>
}

/** What the config needs to know of the tensors. */
export interface TensorFacts {
  readonly names: ReadonlySet<string>
  /** Rows of the embedding. */
  readonly vocabularySize: number
  /** `rope_freqs.weight`, (headSize / 2) f32, null where there is none. */
  readonly ropeFactors: Float32Array | null
}

/**
 * @throws gguf-invalid, gguf-unsupported, architecture-unsupported
 */
export function describeGgufModel(metadata: MetadataReader, facts: TensorFacts): GgufModel {
  const architecture = findArchitecture(metadata)
  const key = (name: string): string => `${architecture.name}.${name}`
  const whole = (name: string): number => required(metadata, key(name), metadata.whole(key(name)))
  if ((metadata.whole(key('expert_count')) ?? 0) > 0)
    throw new AppError(
      'architecture-unsupported',
      `${metadata.file}: a ${architecture.name} GGUF with experts (Mixtral) is not supported: use the safetensors checkpoint of a supported architecture`,
    )
  const hiddenSize = whole('embedding_length')
  const headCount = whole('attention.head_count')
  const keyValueHeadCount = metadata.whole(key('attention.head_count_kv')) ?? headCount
  if (headCount < 1 || keyValueHeadCount < 1 || headCount % keyValueHeadCount !== 0)
    throw metadata.refuse(`${headCount} query heads do not divide into ${keyValueHeadCount} key-value heads`)
  const headSize = metadata.whole(key('attention.key_length')) ?? hiddenSize / headCount
  const rotarySize = metadata.whole(key('rope.dimension_count')) ?? headSize
  if (
    !Number.isInteger(headSize) ||
    headSize < 2 ||
    headSize > MAX_HEAD_SIZE ||
    headSize % 2 !== 0 ||
    rotarySize !== headSize
  )
    throw metadata.refuse(`heads of ${headSize} with ${rotarySize} rotated dimensions are not supported`)
  const has = (part: string, kind: string): boolean => facts.names.has(`blk.0.${part}.${kind}`)
  const window = metadata.whole(key('attention.sliding_window')) ?? 0
  if (window > 0)
    throw new AppError(
      'gguf-unsupported',
      `${metadata.file}: a sliding window of ${window} in a ${architecture.name} GGUF is not supported: use the safetensors checkpoint`,
    )
  const config = {
    architectures: [architecture.hfArchitecture],
    model_type: architecture.hfModelType,
    hidden_size: hiddenSize,
    intermediate_size: whole('feed_forward_length'),
    num_hidden_layers: whole('block_count'),
    num_attention_heads: headCount,
    num_key_value_heads: keyValueHeadCount,
    head_dim: headSize,
    hidden_act: 'silu',
    max_position_embeddings: whole('context_length'),
    rms_norm_eps: required(
      metadata,
      key('attention.layer_norm_rms_epsilon'),
      metadata.number(key('attention.layer_norm_rms_epsilon')),
    ),
    rope_theta: metadata.number(key('rope.freq_base')) ?? 10000,
    rope_scaling: ropeScaling(metadata, { key, headSize, factors: facts.ropeFactors }),
    vocab_size: facts.vocabularySize,
    tie_word_embeddings: !facts.names.has('output.weight'),
    ...(architecture.name === 'qwen2' ? {} : { attention_bias: has('attn_q', 'bias') }),
    ...(architecture.name === 'llama' ? { mlp_bias: has('ffn_gate', 'bias') } : {}),
    bos_token_id: metadata.whole('tokenizer.ggml.bos_token_id'),
    eos_token_id: metadata.whole('tokenizer.ggml.eos_token_id'),
  }
  return { architecture, headCount, keyValueHeadCount, headSize, layerCount: config.num_hidden_layers, config }
}

function findArchitecture(metadata: MetadataReader): GgufArchitecture {
  const name = required(metadata, 'general.architecture', metadata.text('general.architecture'))
  const found = GGUF_ARCHITECTURES.find((architecture) => architecture.name === name)
  if (found !== undefined) return found
  const known = GGUF_ARCHITECTURES.map((architecture) => architecture.name)
  throw new AppError(
    'architecture-unsupported',
    `${metadata.file}: a GGUF of architecture ${name.slice(0, 40)} is not read; read are ${known.join(', ')}: use the safetensors checkpoint of the model (keepready models pull)`,
    { details: { architecture: name.slice(0, 40), supported: known } },
  )
}

interface RopeSource {
  readonly key: (name: string) => string
  readonly headSize: number
  readonly factors: Float32Array | null
}

function ropeScaling(metadata: MetadataReader, source: RopeSource): Readonly<Record<string, unknown>> | null {
  const { key, headSize, factors } = source
  if (factors !== null) {
    const theta = metadata.number(key('rope.freq_base')) ?? 10000
    const found = llama3Scaling({ factors, theta, headSize })
    if (found !== null) return found
    throw new AppError(
      'gguf-unsupported',
      `${metadata.file}: its rope_freqs.weight is no llama3 scaling of a context of 8192: use the safetensors checkpoint`,
    )
  }
  const type = metadata.text(key('rope.scaling.type')) ?? 'none'
  const factor = metadata.number(key('rope.scaling.factor')) ?? metadata.number(key('rope.scale_linear'))
  if (type === 'none' || factor === null) return null
  if (type === 'linear') return factor === 1 ? null : { rope_type: 'linear', factor }
  const original = metadata.whole(key('rope.scaling.original_context_length'))
  if (type === 'yarn' && original !== null)
    return { rope_type: 'yarn', factor, original_max_position_embeddings: original }
  throw new AppError(
    'gguf-unsupported',
    `${metadata.file}: rope scaling ${type.slice(0, 40)} is not read; read are none, linear, yarn (with its original context) and llama3: use the safetensors checkpoint`,
  )
}

/**
 * The converter writes llama3 scaling only as the factor that divides each frequency. Its parameters are those of every
 * release so far (low 1, high 4, 8192 tokens); the largest factor is the scale, and all factors must agree.
 * Formula: transformers `_compute_llama3_parameters`.
 */
function llama3Scaling(rope: {
  readonly factors: Float32Array
  readonly theta: number
  readonly headSize: number
}): Readonly<Record<string, unknown>> | null {
  const [low, high, original] = [1, 4, 8192]
  // The length first: it is the file's, and the list is spread.
  if (rope.factors.length !== rope.headSize / 2) return null
  const factor = Math.max(...rope.factors)
  if (!(factor > 1)) return null
  for (const [i, stored] of rope.factors.entries()) {
    const wavelength = 2 * Math.PI * rope.theta ** ((2 * i) / rope.headSize)
    const smooth = (original / wavelength - low) / (high - low)
    const inBetween = 1 / ((1 - smooth) / factor + smooth)
    const wanted = wavelength < original / high ? 1 : wavelength > original / low ? factor : inBetween
    if (!(Math.abs(stored - wanted) <= 1e-4 * wanted)) return null
  }
  return {
    rope_type: 'llama3',
    factor,
    low_freq_factor: low,
    high_freq_factor: high,
    original_max_position_embeddings: original,
  }
}
