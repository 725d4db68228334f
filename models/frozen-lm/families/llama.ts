/** Llama (arXiv 2302.13971) and its scaled ropes: the plain decoder. */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { PRE_NORMS } from '../decoder.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { plainRope } from './rope-fields.ts'

export const llama: Family = {
  architectures: ['LlamaForCausalLM'],
  modelTypes: ['llama'],
  describe(source) {
    const fields = source.read({ ...DECODER_FIELDS, ...ROPE_FIELDS, attention_bias: FIELD.flag, mlp_bias: FIELD.flag })
    const attention = plainAttention(source, fields)
    const biased = fields.attention_bias === true
    const layer = {
      norms: PRE_NORMS,
      mixer: { ...attention, queryKeyValueBias: biased, outputBias: biased },
      feedForward: { ...plainFeedForward(source, fields), bias: fields.mlp_bias === true },
    }
    const { headSize } = attention
    const rope = plainRope(source, fields, { headSize, contextLength: fields.max_position_embeddings })
    return plainDecoder(source, fields, { ropes: [rope], layerAt: () => layer })
  },
}
