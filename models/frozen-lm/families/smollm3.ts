/** SmolLM3: Llama in which every fourth layer, or those that `no_rope_layers` marks with 0, has no positions. */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { PRE_NORMS } from '../decoder.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { layerTypes, windowOf } from './layer-types.ts'
import { plainRope } from './rope-fields.ts'

export const smollm3: Family = {
  architectures: ['SmolLM3ForCausalLM'],
  modelTypes: ['smollm3'],
  describe(source) {
    const fields = source.read({
      ...DECODER_FIELDS,
      ...ROPE_FIELDS,
      attention_bias: FIELD.flag,
      mlp_bias: FIELD.flag,
      no_rope_layers: FIELD.layerFlags,
      no_rope_layer_interval: FIELD.size.default(4),
      sliding_window: FIELD.optionalSize,
      use_sliding_window: FIELD.flag,
      layer_types: FIELD.layerTypes,
    })
    const { no_rope_layers: marks, no_rope_layer_interval: interval, num_hidden_layers: layerCount } = fields
    if (marks !== null && marks !== undefined && marks.length < layerCount)
      throw source.refuse(`no_rope_layers marks ${marks.length} layers, num_hidden_layers is ${layerCount}`)
    const rotates = Array.from(
      { length: layerCount },
      (_, i) => (marks?.[i] ?? ((i + 1) % interval === 0 ? 0 : 1)) === 1,
    )
    const window = fields.use_sliding_window === true ? (fields.sliding_window ?? null) : null
    const types = layerTypes(source, {
      listed: fields.layer_types,
      layerCount,
      allowed: ['full_attention', 'sliding_attention'],
      otherwise: (index) => (window !== null && rotates[index] === false ? 'sliding_attention' : 'full_attention'),
    })
    const biased = fields.attention_bias === true
    const attention = { ...plainAttention(source, fields), queryKeyValueBias: biased, outputBias: biased }
    const feedForward = { ...plainFeedForward(source, fields), bias: fields.mlp_bias === true }
    const { headSize } = attention
    return plainDecoder(source, fields, {
      ropes: [plainRope(source, fields, { headSize, contextLength: fields.max_position_embeddings })],
      layerAt: (index) => ({
        norms: PRE_NORMS,
        mixer: {
          ...attention,
          rope: rotates[index] === true ? 0 : null,
          window: windowOf(source, types[index] ?? 'full_attention', window),
        },
        feedForward,
      }),
    })
  },
}
