/** Gemma 2 (arXiv 2408.00118): a window in every other layer, attention scores capped by a tanh. */
import { ROPE_FIELDS } from '../config-fields.schema.ts'
import { type Family, plainAttention } from './family.ts'
import { GEMMA_FIELDS, gemmaDecoder } from './gemma.ts'
import { layerTypes, windowOf } from './layer-types.ts'
import { plainRope } from './rope-fields.ts'

export const gemma2: Family = {
  architectures: ['Gemma2ForCausalLM'],
  modelTypes: ['gemma2'],
  describe(source) {
    const fields = source.read({ ...GEMMA_FIELDS, ...ROPE_FIELDS })
    const { headSize } = plainAttention(source, fields)
    const types = layerTypes(source, {
      listed: fields.layer_types,
      layerCount: fields.num_hidden_layers,
      allowed: ['sliding_attention', 'full_attention'],
      otherwise: (index) => (index % 2 === 0 ? 'sliding_attention' : 'full_attention'),
    })
    return gemmaDecoder(source, fields, {
      ropes: [plainRope(source, fields, { headSize, contextLength: fields.max_position_embeddings })],
      attentionAt: (index) => ({
        window: windowOf(source, types[index] ?? 'full_attention', fields.sliding_window),
      }),
    })
  },
}
