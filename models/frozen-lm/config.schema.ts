/**
 * config.json of a Hugging Face checkpoint -> DecoderConfig. Both spellings are read: `rope_parameters` and `dtype`
 * (transformers 5), `rope_theta`, `rope_scaling` and `torch_dtype` (version 4). What we do not implement is refused.
 */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { ARCHITECTURES, type Architecture, type DecoderConfig, type WeightDtype } from './architectures.ts'
import type { RopeConfig } from './rope.ts'

/** Far above any model that fits on one machine; keeps products of sizes exact. */
const size = z
  .int()
  .positive()
  .max(2 ** 24)
const positive = z.number().positive().finite()

const ropeSchema = z.looseObject({
  rope_type: z.string().optional(),
  /** Oldest spelling of rope_type. */
  type: z.string().optional(),
  rope_theta: positive.optional(),
  factor: positive.optional(),
  low_freq_factor: positive.optional(),
  high_freq_factor: positive.optional(),
  original_max_position_embeddings: size.optional(),
  attention_factor: positive.nullish(),
  beta_fast: positive.nullish(),
  beta_slow: positive.nullish(),
  mscale: z.number().nullish(),
  mscale_all_dim: z.number().nullish(),
  truncate: z.boolean().optional(),
  partial_rotary_factor: z.number().optional(),
})

const fieldsSchema = z.looseObject({
  hidden_size: size,
  num_hidden_layers: size,
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  intermediate_size: size,
  vocab_size: size,
  max_position_embeddings: size,
  rms_norm_eps: positive,
  hidden_act: z.string().default('silu'),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  sliding_window: size.nullish(),
  use_sliding_window: z.boolean().nullish(),
  rope_theta: positive.nullish(),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  partial_rotary_factor: z.number().nullish(),
  torch_dtype: z.string().nullish(),
  dtype: z.string().nullish(),
  quantization_config: z.unknown().optional(),
})
type Fields = z.infer<typeof fieldsSchema>

const architectureSchema = z.looseObject({ architectures: z.tuple([z.string()], z.string()) })

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) })

const DTYPES: Readonly<Record<string, WeightDtype>> = { float32: 'F32', float16: 'F16', bfloat16: 'BF16' }
const DEFAULT_THETA = 10000
/** onnxruntime's GroupQueryAttention: "head_size shall be a multiple of 16". */
const HEAD_SIZE_STEP = 16

/**
 * @param value parsed config.json
 * @param path where it stood, for messages
 * @throws config-invalid, architecture-unsupported
 */
export function parseDecoderConfig(value: unknown, path: string): DecoderConfig {
  const name = parseWith(architectureSchema, value, path).architectures[0]
  const architecture = Object.hasOwn(ARCHITECTURES, name) ? ARCHITECTURES[name] : undefined
  if (architecture === undefined)
    throw new AppError(
      'architecture-unsupported',
      `${path}: architecture ${name} is not supported; supported are ${Object.keys(ARCHITECTURES).join(', ')}`,
      { details: { architecture: name, supported: Object.keys(ARCHITECTURES) } },
    )
  const fields = parseWith(fieldsSchema, value, path)
  const refuse = (text: string): AppError => new AppError('config-invalid', `${path}: ${text}`)
  if (fields.quantization_config !== undefined && fields.quantization_config !== null)
    throw refuse('quantization_config is set: quantised checkpoints are not read, take the F32, F16 or BF16 weights')
  if (fields.hidden_act !== 'silu')
    throw refuse(`hidden_act ${fields.hidden_act} is not supported for ${name}, only silu`)
  const headCount = fields.num_attention_heads
  const keyValueHeadCount = fields.num_key_value_heads ?? headCount
  if (headCount % keyValueHeadCount !== 0)
    throw refuse(`num_attention_heads ${headCount} is no multiple of num_key_value_heads ${keyValueHeadCount}`)
  const headSize = fields.head_dim ?? fields.hidden_size / headCount
  if (headSize % HEAD_SIZE_STEP !== 0)
    throw refuse(`the size of a head is ${headSize}; the attention kernel takes multiples of ${HEAD_SIZE_STEP} only`)
  return {
    architecture: name,
    hiddenSize: fields.hidden_size,
    layerCount: fields.num_hidden_layers,
    headCount,
    keyValueHeadCount,
    headSize,
    feedForwardSize: fields.intermediate_size,
    vocabularySize: fields.vocab_size,
    contextLength: fields.max_position_embeddings,
    normEpsilon: fields.rms_norm_eps,
    rope: ropeConfig(fields, refuse),
    weightDtype: weightDtype(fields, refuse),
    queryKeyValueBias: isPresent(architecture.queryKeyValueBias, fields.attention_bias),
    outputBias: isPresent(architecture.outputBias, fields.attention_bias),
    feedForwardBias: isPresent(architecture.feedForwardBias, fields.mlp_bias),
    headNorm: architecture.headNorm,
    attentionWindow: attentionWindow(architecture, fields, refuse),
  }
}

/**
 * @returns tensor name -> file name of model.safetensors.index.json
 * @throws config-invalid
 */
export function parseShardIndex(value: unknown, path: string): ReadonlyMap<string, string> {
  return new Map(Object.entries(parseWith(indexSchema, value, path).weight_map))
}

function parseWith<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'document'}: ${issue.message}`)
  throw new AppError('config-invalid', `${path}: ${issues.join('; ')}: use the checkpoint's own file`, {
    details: { fields: parsed.error.issues.map((issue) => issue.path.join('.')) },
  })
}

function isPresent(presence: Architecture['outputBias'], flag: boolean | null | undefined): boolean {
  return presence === 'config' ? flag === true : presence === 'always'
}

function weightDtype(fields: Fields, refuse: (text: string) => AppError): WeightDtype | null {
  const name = fields.dtype ?? fields.torch_dtype
  if (name === null || name === undefined || name === 'auto') return null
  const dtype = Object.hasOwn(DTYPES, name) ? DTYPES[name] : undefined
  if (dtype === undefined) throw refuse(`dtype ${name} is not supported, only ${Object.keys(DTYPES).join(', ')}`)
  return dtype
}

function attentionWindow(
  architecture: Architecture,
  fields: Fields,
  refuse: (text: string) => AppError,
): number | null {
  const window = fields.sliding_window ?? null
  if (architecture.window === 'sliding_window') return window
  if (architecture.window === 'use_sliding_window' && fields.use_sliding_window === true)
    throw refuse('use_sliding_window is true: layers with and without a window are not supported yet')
  return null
}

function ropeConfig(fields: Fields, refuse: (text: string) => AppError): RopeConfig {
  const scaling = fields.rope_parameters ?? fields.rope_scaling ?? {}
  const theta = scaling.rope_theta ?? fields.rope_theta ?? DEFAULT_THETA
  const kind = scaling.rope_type ?? scaling.type ?? 'default'
  const partial = scaling.partial_rotary_factor ?? fields.partial_rotary_factor ?? 1
  if (partial !== 1) throw refuse(`partial_rotary_factor ${partial} is not supported, only 1`)
  const need = (value: number | undefined, field: string): number => {
    if (value === undefined) throw refuse(`rope of type ${kind} needs ${field}`)
    return value
  }
  if (kind === 'default') return { kind, theta }
  if (kind === 'linear') return { kind, theta, factor: need(scaling.factor, 'factor') }
  if (kind === 'llama3')
    return {
      kind,
      theta,
      factor: need(scaling.factor, 'factor'),
      lowFrequencyFactor: need(scaling.low_freq_factor, 'low_freq_factor'),
      highFrequencyFactor: need(scaling.high_freq_factor, 'high_freq_factor'),
      originalContextLength: need(scaling.original_max_position_embeddings, 'original_max_position_embeddings'),
    }
  if (kind === 'yarn') {
    if (scaling.truncate === false) throw refuse('rope of type yarn with truncate false is not supported')
    const factor = need(scaling.factor, 'factor')
    return {
      kind,
      theta,
      factor,
      betaFast: scaling.beta_fast ?? 32,
      betaSlow: scaling.beta_slow ?? 1,
      originalContextLength: scaling.original_max_position_embeddings ?? fields.max_position_embeddings,
      attentionFactor: scaling.attention_factor ?? yarnAttentionFactor(factor, scaling),
    }
  }
  throw refuse(`rope of type ${kind} is not supported, only default, linear, llama3, yarn`)
}

/** YaRN's temperature (arXiv 2309.00071, eq. 22); DeepSeek's mscale pair replaces it where it is given. */
function yarnAttentionFactor(
  factor: number,
  scaling: { readonly mscale?: number | null | undefined; readonly mscale_all_dim?: number | null | undefined },
): number {
  const temperature = (scale: number): number => (factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1)
  const { mscale, mscale_all_dim: allDimensions } = scaling
  return mscale && allDimensions ? temperature(mscale) / temperature(allDimensions) : temperature(1)
}
