/**
 * OLMo 2 (arXiv 2501.00656): norms after attention and feed-forward instead of before them, and one over the whole
 * query and key projections.
 */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import type { LayerNorms } from '../decoder.ts'
import type { ConfigSource } from './config-source.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { plainRope } from './rope-fields.ts'

export const POST_NORMS: LayerNorms = {
  beforeMixer: null,
  afterMixer: 'post_attention_layernorm',
  beforeFeedForward: null,
  afterFeedForward: 'post_feedforward_layernorm',
}

/** Of OLMo 2 and 3. */
export function olmoAttention(
  source: ConfigSource,
  fields: Parameters<typeof plainAttention>[1] & { readonly attention_bias?: boolean | null | undefined },
) {
  const biased = fields.attention_bias === true
  return {
    ...plainAttention(source, fields),
    queryKeyNorm: 'projection' as const,
    queryKeyValueBias: biased,
    outputBias: biased,
  }
}

export const olmo2: Family = {
  architectures: ['Olmo2ForCausalLM'],
  modelTypes: ['olmo2'],
  describe(source) {
    const fields = source.read({ ...DECODER_FIELDS, ...ROPE_FIELDS, attention_bias: FIELD.flag })
    const attention = olmoAttention(source, fields)
    const layer = { norms: POST_NORMS, mixer: attention, feedForward: plainFeedForward(source, fields) }
    const { headSize } = attention
    const rope = plainRope(source, fields, { headSize, contextLength: fields.max_position_embeddings })
    return plainDecoder(source, fields, { ropes: [rope], layerAt: () => layer })
  },
}
