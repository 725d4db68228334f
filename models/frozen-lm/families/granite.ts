/** Granite 3: Llama whose embeddings, residual additions, attention scores and logits have multipliers of their own. */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { PRE_NORMS } from '../decoder.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { plainRope } from './rope-fields.ts'

export const granite: Family = {
  architectures: ['GraniteForCausalLM'],
  modelTypes: ['granite'],
  describe(source) {
    const fields = source.read({
      ...DECODER_FIELDS,
      ...ROPE_FIELDS,
      attention_bias: FIELD.flag,
      mlp_bias: FIELD.flag,
      attention_multiplier: FIELD.positive.default(1),
      embedding_multiplier: FIELD.positive.default(1),
      residual_multiplier: FIELD.positive.default(1),
      logits_scaling: FIELD.positive.default(1),
    })
    const biased = fields.attention_bias === true
    const attention = {
      ...plainAttention(source, fields),
      queryKeyValueBias: biased,
      outputBias: biased,
      scale: fields.attention_multiplier,
    }
    const feedForward = { ...plainFeedForward(source, fields), bias: fields.mlp_bias === true }
    const { headSize } = attention
    const rope = plainRope(source, fields, { headSize, contextLength: fields.max_position_embeddings })
    const decoder = plainDecoder(source, fields, {
      ropes: [rope],
      layerAt: () => ({ norms: PRE_NORMS, mixer: attention, feedForward }),
    })
    return {
      ...decoder,
      head: { ...decoder.head, scale: 1 / fields.logits_scaling },
      inputScale: fields.embedding_multiplier,
      residualScale: fields.residual_multiplier,
    }
  },
}
