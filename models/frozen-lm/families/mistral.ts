/** Mistral (arXiv 2310.06825): Llama with a free head size and, where config.json has one, a sliding window. */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { PRE_NORMS } from '../decoder.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { plainRope } from './rope-fields.ts'

export const mistral: Family = {
  architectures: ['MistralForCausalLM'],
  modelTypes: ['mistral'],
  describe(source) {
    const fields = source.read({ ...DECODER_FIELDS, ...ROPE_FIELDS, sliding_window: FIELD.optionalSize })
    const attention = { ...plainAttention(source, fields), window: fields.sliding_window ?? null }
    const layer = { norms: PRE_NORMS, mixer: attention, feedForward: plainFeedForward(source, fields) }
    const { headSize } = attention
    const rope = plainRope(source, fields, { headSize, contextLength: fields.max_position_embeddings })
    return plainDecoder(source, fields, { ropes: [rope], layerAt: () => layer })
  },
}
