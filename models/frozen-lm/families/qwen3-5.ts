/** Qwen3.5 (text part): delta nets and gated attention; as Qwen3.5-MoE with a shared expert, all experts in two tensors. */
import { DECODER_FIELDS, FIELD } from '../config-fields.schema.ts'
import { deltaDecoder, readDeltaFields } from './delta-decoder.ts'
import { expertsOf } from './experts.ts'
import { type Family, plainFeedForward } from './family.ts'

export const qwen35: Family = {
  architectures: ['Qwen3_5ForCausalLM'],
  modelTypes: ['qwen3_5_text'],
  describe(source) {
    const fields = source.read(DECODER_FIELDS)
    const feedForward = plainFeedForward(source, fields)
    return deltaDecoder(source, fields, { fusedProjections: false, feedForwardAt: () => feedForward })
  },
}

export const qwen35Moe: Family = {
  architectures: ['Qwen3_5MoeForCausalLM'],
  modelTypes: ['qwen3_5_moe_text'],
  describe(source) {
    const fields = readDeltaFields(source)
    const { shared_expert_intermediate_size: sharedSize } = source.read({ shared_expert_intermediate_size: FIELD.size })
    const experts = expertsOf(source, fields, { normalised: true, sharedSize, stacked: true })
    return deltaDecoder(source, fields, { fusedProjections: false, feedForwardAt: () => experts })
  },
}
