/**
 * OLMo 3 (arXiv 2512.13961): OLMo 2 with a window in three of four layers. Its scaled rope (yarn) is that of the layers
 * without a window alone, as it was trained; windowed layers rotate plainly.
 */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import type { ConfigSource } from './config-source.ts'
import { type Family, plainDecoder, plainFeedForward } from './family.ts'
import { layerTypes, windowOf } from './layer-types.ts'
import { olmoAttention, POST_NORMS } from './olmo2.ts'
import { ropeTableConfig } from './rope-fields.ts'

const FIELDS = {
  ...DECODER_FIELDS,
  rope_theta: ROPE_FIELDS.rope_theta,
  rope_scaling: FIELD.ropeParameters,
  rope_parameters: FIELD.ropesOrRope,
  attention_bias: FIELD.flag,
  sliding_window: FIELD.optionalSize,
  layer_types: FIELD.layerTypes,
}
const DEFAULT_THETA = 500_000
const WINDOWED_LAYERS = 4
/** Rotary tables by the kind of layer. */
const ROPE = { full_attention: 0, sliding_attention: 1, linear_attention: null } as const

/** In files of transformers 5 by layer type, or one for the full layers as in those of transformers 4. */
function ropeTables(source: ConfigSource, fields: ReturnType<typeof readFields>, headSize: number) {
  const { full_attention: byType, sliding_attention: sliding, ...flat } = fields.rope_parameters ?? {}
  const full = byType ?? { ...fields.rope_scaling, ...flat }
  const theta = full.rope_theta ?? fields.rope_theta ?? DEFAULT_THETA
  const common = { headSize, contextLength: fields.max_position_embeddings, share: 1 }
  return [
    ropeTableConfig(source, { ...common, parameters: full, theta }),
    ropeTableConfig(source, { ...common, parameters: sliding ?? {}, theta: sliding?.rope_theta ?? theta }),
  ]
}

function readFields(source: ConfigSource) {
  return source.read(FIELDS)
}

export const olmo3: Family = {
  architectures: ['Olmo3ForCausalLM'],
  modelTypes: ['olmo3'],
  describe(source) {
    const fields = readFields(source)
    const types = layerTypes(source, {
      listed: fields.layer_types,
      layerCount: fields.num_hidden_layers,
      allowed: ['sliding_attention', 'full_attention'],
      otherwise: (index) => ((index + 1) % WINDOWED_LAYERS === 0 ? 'full_attention' : 'sliding_attention'),
    })
    const attention = olmoAttention(source, fields)
    const feedForward = plainFeedForward(source, fields)
    return plainDecoder(source, fields, {
      ropes: ropeTables(source, fields, attention.headSize),
      layerAt: (index) => {
        const type = types[index] ?? 'full_attention'
        const window = windowOf(source, type, fields.sliding_window)
        return { norms: POST_NORMS, mixer: { ...attention, rope: ROPE[type], window }, feedForward }
      },
    })
  },
}
