/**
 * Gemma 3, text part (arXiv 2503.19786): norms on query and key heads, five layers with a window to one without, and a
 * rope of its own for each kind. Published wrappers leave out of `text_config` what equals Gemma3TextConfig's defaults.
 */
import { DECODER_FIELDS, FIELD } from '../config-fields.schema.ts'
import type { ConfigSource } from './config-source.ts'
import { type Family, plainAttention } from './family.ts'
import { GEMMA_FIELDS, gemmaDecoder } from './gemma.ts'
import { layerTypes, windowOf } from './layer-types.ts'
import { ropeTableConfig } from './rope-fields.ts'

const FIELDS = {
  ...GEMMA_FIELDS,
  num_attention_heads: DECODER_FIELDS.num_attention_heads.default(8),
  num_key_value_heads: FIELD.heads.default(4),
  head_dim: FIELD.headSize.default(256),
  vocab_size: DECODER_FIELDS.vocab_size.default(262208),
  max_position_embeddings: DECODER_FIELDS.max_position_embeddings.default(131072),
  rms_norm_eps: DECODER_FIELDS.rms_norm_eps.default(1e-6),
  sliding_window: FIELD.size.default(4096),
  sliding_window_pattern: FIELD.optionalSize,
  _sliding_window_pattern: FIELD.optionalSize,
  rope_theta: FIELD.positive.default(1e6),
  rope_local_base_freq: FIELD.positive.default(1e4),
  rope_scaling: FIELD.ropeParameters,
  rope_parameters: FIELD.ropesByLayerType,
}
const DEFAULT_PATTERN = 6
/** Rotary tables by the kind of layer. */
const ROPE = { full_attention: 0, sliding_attention: 1, linear_attention: null } as const

function ropeTables(source: ConfigSource, fields: ReturnType<typeof readFields>, headSize: number) {
  const byType = fields.rope_parameters
  const common = { headSize, contextLength: fields.max_position_embeddings, share: 1 }
  const full = byType?.full_attention ?? fields.rope_scaling ?? {}
  const sliding = byType?.sliding_attention ?? {}
  return [
    ropeTableConfig(source, { ...common, parameters: full, theta: full.rope_theta ?? fields.rope_theta }),
    ropeTableConfig(source, {
      ...common,
      parameters: sliding,
      theta: sliding.rope_theta ?? fields.rope_local_base_freq,
    }),
  ]
}

function readFields(source: ConfigSource) {
  return source.read(FIELDS)
}

export const gemma3: Family = {
  architectures: ['Gemma3ForCausalLM'],
  modelTypes: ['gemma3_text'],
  describe(source) {
    const fields = readFields(source)
    const pattern = fields.sliding_window_pattern ?? fields._sliding_window_pattern ?? DEFAULT_PATTERN
    const types = layerTypes(source, {
      listed: fields.layer_types,
      layerCount: fields.num_hidden_layers,
      allowed: ['sliding_attention', 'full_attention'],
      otherwise: (index) => ((index + 1) % pattern === 0 ? 'full_attention' : 'sliding_attention'),
    })
    const { headSize } = plainAttention(source, fields)
    return gemmaDecoder(source, fields, {
      ropes: ropeTables(source, fields, headSize),
      attentionAt: (index) => {
        const type = types[index] ?? 'full_attention'
        return { queryKeyNorm: 'head', rope: ROPE[type], window: windowOf(source, type, fields.sliding_window) }
      },
    })
  },
}
