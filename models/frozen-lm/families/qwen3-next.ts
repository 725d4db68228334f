/**
 * Qwen3-Next: delta nets whose projections are interleaved by key head, gated attention, and a mixture of experts with a
 * shared one in all layers that `decoder_sparse_step` and `mlp_only_layers` do not make dense.
 */
import { FIELD } from '../config-fields.schema.ts'
import { deltaDecoder, readDeltaFields } from './delta-decoder.ts'
import { EXPERT_FIELDS, expertsOf, sparseLayers } from './experts.ts'
import { type Family, plainFeedForward } from './family.ts'

export const qwen3Next: Family = {
  architectures: ['Qwen3NextForCausalLM'],
  modelTypes: ['qwen3_next'],
  describe(source) {
    const fields = readDeltaFields(source)
    const { shared_expert_intermediate_size: sharedSize, norm_topk_prob: normalised } = source.read({
      shared_expert_intermediate_size: FIELD.size,
      norm_topk_prob: EXPERT_FIELDS.norm_topk_prob,
    })
    const experts = expertsOf(source, fields, { normalised: normalised !== false, sharedSize, stacked: false })
    const dense = plainFeedForward(source, fields)
    const isSparse = sparseLayers(source)
    return deltaDecoder(source, fields, {
      fusedProjections: true,
      feedForwardAt: (index) => (isSparse(index) ? experts : dense),
    })
  },
}
