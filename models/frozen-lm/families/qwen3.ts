/**
 * Qwen3 (arXiv 2505.09388): Llama with an RMS norm on each query and key head; as a mixture of experts (Qwen3-MoE) in
 * every `decoder_sparse_step`-th layer that `mlp_only_layers` does not name.
 */
import { DECODER_FIELDS, type DecoderFields, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { type ExpertsConfig, type LayerConfig, PRE_NORMS } from '../decoder.ts'
import type { ConfigSource } from './config-source.ts'
import { activationOf, type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { QWEN_WINDOW_FIELDS, qwenWindows } from './qwen-windows.ts'
import { plainRope } from './rope-fields.ts'

const ATTENTION_FIELDS = { ...DECODER_FIELDS, ...ROPE_FIELDS, ...QWEN_WINDOW_FIELDS, attention_bias: FIELD.flag }

const EXPERT_FIELDS = {
  num_experts: FIELD.experts.nullish(),
  num_local_experts: FIELD.experts.nullish(),
  num_experts_per_tok: FIELD.experts,
  moe_intermediate_size: FIELD.size,
  norm_topk_prob: FIELD.flag,
  decoder_sparse_step: FIELD.size.default(1),
  mlp_only_layers: FIELD.layerIndices,
}

function describe(source: ConfigSource, feedForwardAt: (index: number) => LayerConfig['feedForward']) {
  const fields = source.read(ATTENTION_FIELDS)
  const biased = fields.attention_bias === true
  const attention = plainAttention(source, fields)
  const windows = qwenWindows(source, fields)
  const { headSize } = attention
  return plainDecoder(source, fields, {
    ropes: [plainRope(source, fields, { headSize, contextLength: fields.max_position_embeddings })],
    layerAt: (index) => ({
      norms: PRE_NORMS,
      mixer: {
        ...attention,
        queryKeyNorm: 'head',
        queryKeyValueBias: biased,
        outputBias: biased,
        window: windows[index] ?? null,
      },
      feedForward: feedForwardAt(index),
    }),
  })
}

function describeExperts(source: ConfigSource, fields: DecoderFields): (index: number) => LayerConfig['feedForward'] {
  const own = source.read(EXPERT_FIELDS)
  const expertCount = own.num_experts ?? own.num_local_experts
  const activeCount = own.num_experts_per_tok
  if (expertCount === null || expertCount === undefined) throw source.refuse('num_experts is missing')
  if (activeCount > expertCount)
    throw source.refuse(`num_experts_per_tok ${activeCount} is more than the ${expertCount} experts there are`)
  const experts: ExpertsConfig = {
    kind: 'experts',
    expertCount,
    activeCount,
    size: own.moe_intermediate_size,
    activation: activationOf(source, fields.hidden_act),
    normalised: own.norm_topk_prob === true,
  }
  const dense = plainFeedForward(source, fields)
  const isSparse = (index: number): boolean =>
    (index + 1) % own.decoder_sparse_step === 0 && own.mlp_only_layers?.includes(index) !== true
  return (index) => (isSparse(index) ? experts : dense)
}

export const qwen3: Family = {
  architectures: ['Qwen3ForCausalLM'],
  modelTypes: ['qwen3'],
  describe(source) {
    const feedForward = plainFeedForward(source, source.read(DECODER_FIELDS))
    return describe(source, () => feedForward)
  },
}

export const qwen3Moe: Family = {
  architectures: ['Qwen3MoeForCausalLM'],
  modelTypes: ['qwen3_moe'],
  describe: (source) => describe(source, describeExperts(source, source.read(DECODER_FIELDS))),
}
