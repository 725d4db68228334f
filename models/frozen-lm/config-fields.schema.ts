/**
 * Fields of a Hugging Face config.json, each checked alone: what families put their own lists together from. Unknown
 * fields are let by, a field with a value outside of its bounds is refused by name.
 */
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'

/** Far above any model that fits on one machine; keeps products of two sizes exact. */
const LARGEST_SIZE = 2 ** 24
/** Several times what any published decoder has; bounds what is built from a count before a weight is looked at. */
const MOST_LAYERS = 1000
const MOST_HEADS = 4096
const MOST_EXPERTS = 4096
/** Rotary tables and recurrent states grow with it and are made before a weight is multiplied. */
export const LARGEST_HEAD = 2048
const MOST_TAPS = 64

const size = z.int().positive().max(LARGEST_SIZE)
const heads = z.int().positive().max(MOST_HEADS)
const headSize = z.int().positive().max(LARGEST_HEAD)
const positive = z.number().positive().finite()
const ropeParameters = z.looseObject({
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
  partial_rotary_factor: positive.optional(),
  /** One for each pair of dimensions. */
  short_factor: z.array(positive).max(LARGEST_HEAD).optional(),
  long_factor: z.array(positive).max(LARGEST_HEAD).optional(),
  short_mscale: z.number().nullish(),
  long_mscale: z.number().nullish(),
})
export type RopeFields = z.infer<typeof ropeParameters>

/** Building blocks of a family's own fields. */
export const FIELD = {
  size,
  heads,
  headSize,
  /** Tokens that a convolution reads. */
  taps: z.int().min(2).max(MOST_TAPS),
  positive,
  experts: z.int().positive().max(MOST_EXPERTS),
  flag: z.boolean().nullish(),
  optionalSize: size.nullish(),
  optionalCount: z.int().nonnegative().max(LARGEST_SIZE).nullish(),
  optionalPositive: positive.nullish(),
  /** One number per layer, at least. */
  layerFlags: z.array(z.int().min(0).max(1)).max(MOST_LAYERS).nullish(),
  layerIndices: z.array(z.int().nonnegative()).max(MOST_LAYERS).nullish(),
  optionalText: z.string().nullish(),
  layerTypes: z.array(z.string()).max(MOST_LAYERS).nullish(),
  ropeParameters: ropeParameters.nullish(),
  /** Rope parameters by layer type, transformers 5. */
  ropesByLayerType: z.record(z.string(), ropeParameters).nullish(),
  /** Either of the two. */
  ropesOrRope: ropeParameters
    .extend({ full_attention: ropeParameters.optional(), sliding_attention: ropeParameters.optional() })
    .nullish(),
} as const

/** Fields that every decoder has. */
export const DECODER_FIELDS = {
  hidden_size: size,
  num_hidden_layers: z.int().positive().max(MOST_LAYERS),
  num_attention_heads: heads,
  num_key_value_heads: heads.nullish(),
  head_dim: headSize.nullish(),
  intermediate_size: size,
  vocab_size: size,
  max_position_embeddings: size,
  rms_norm_eps: positive,
  hidden_act: z.string().default('silu'),
  dtype: z.string().nullish(),
  torch_dtype: z.string().nullish(),
  quantization_config: z.unknown().optional(),
  tie_word_embeddings: z.boolean().nullish(),
} as const
export type DecoderFields = z.infer<z.ZodObject<typeof DECODER_FIELDS>>

/** One rotary table for all layers, in the spelling of transformers 5 or 4. */
export const ROPE_FIELDS = {
  rope_theta: positive.nullish(),
  rope_scaling: ropeParameters.nullish(),
  rope_parameters: ropeParameters.nullish(),
  partial_rotary_factor: positive.nullish(),
  /** Phi keeps it here, beside the parameters. */
  original_max_position_embeddings: size.nullish(),
} as const
export type RopeConfigFields = z.infer<z.ZodObject<typeof ROPE_FIELDS>>

/**
 * @returns the fields of `shape`, checked
 * @throws config-invalid, with every field that is wrong
 */
export function readFields<Shape extends z.ZodRawShape>(
  shape: Shape,
  value: unknown,
  path: string,
): z.infer<z.ZodObject<Shape>> {
  const parsed = z.object(shape).safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'document'}: ${issue.message}`)
  throw new AppError('config-invalid', `${path}: ${issues.join('; ')}: use the checkpoint's own file`, {
    details: { fields: parsed.error.issues.map((issue) => issue.path.join('.')) },
  })
}
