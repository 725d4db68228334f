/** Mixtures of experts as the Qwen families configure them. */
import { type DecoderFields, FIELD } from '../config-fields.schema.ts'
import type { ExpertsConfig } from '../decoder.ts'
import type { ConfigSource } from './config-source.ts'
import { activationOf } from './family.ts'

export const EXPERT_FIELDS = {
  num_experts: FIELD.experts.nullish(),
  num_local_experts: FIELD.experts.nullish(),
  num_experts_per_tok: FIELD.experts,
  moe_intermediate_size: FIELD.size,
  norm_topk_prob: FIELD.flag,
}

/** Where every layer need not be one. */
export const SPARSE_LAYER_FIELDS = {
  decoder_sparse_step: FIELD.size.default(1),
  mlp_only_layers: FIELD.layerIndices,
}

/** @param how the rest of what a family's experts are */
export function expertsOf(
  source: ConfigSource,
  fields: Pick<DecoderFields, 'hidden_act'>,
  how: Pick<ExpertsConfig, 'normalised' | 'sharedSize' | 'stacked'>,
): ExpertsConfig {
  const own = source.read(EXPERT_FIELDS)
  const expertCount = own.num_experts ?? own.num_local_experts
  const activeCount = own.num_experts_per_tok
  if (expertCount === null || expertCount === undefined) throw source.refuse('num_experts is missing')
  if (activeCount > expertCount)
    throw source.refuse(`num_experts_per_tok ${activeCount} is more than the ${expertCount} experts there are`)
  return {
    kind: 'experts',
    expertCount,
    activeCount,
    size: own.moe_intermediate_size,
    activation: activationOf(source, fields.hidden_act),
    ...how,
  }
}

/** Whether layer `index` is a mixture of experts; else it is dense. */
export function sparseLayers(source: ConfigSource): (index: number) => boolean {
  const { decoder_sparse_step: step, mlp_only_layers: dense } = source.read(SPARSE_LAYER_FIELDS)
  return (index) => (index + 1) % step === 0 && dense?.includes(index) !== true
}
