/** Phi-3 and Phi-4 (arXiv 2404.14219): Llama with fused query-key-value and gate-up matrices, which are read in place. */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { PRE_NORMS } from '../decoder.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { plainRope } from './rope-fields.ts'

export const phi3: Family = {
  architectures: ['Phi3ForCausalLM'],
  modelTypes: ['phi3'],
  describe(source) {
    const fields = source.read({ ...DECODER_FIELDS, ...ROPE_FIELDS, sliding_window: FIELD.optionalSize })
    const attention = plainAttention(source, fields)
    const layer = {
      norms: PRE_NORMS,
      mixer: { ...attention, window: fields.sliding_window ?? null, fusedProjections: true },
      feedForward: { ...plainFeedForward(source, fields), fusedProjections: true },
    }
    const { headSize } = attention
    const contextLength = fields.max_position_embeddings
    const rope = plainRope(source, fields, { headSize, contextLength, partial: true })
    return plainDecoder(source, fields, { ropes: [rope], layerAt: () => layer })
  },
}
