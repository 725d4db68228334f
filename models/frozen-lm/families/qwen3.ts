/**
 * Qwen3 (arXiv 2505.09388): Llama with an RMS norm on each query and key head; as a mixture of experts (Qwen3-MoE) in
 * every `decoder_sparse_step`-th layer that `mlp_only_layers` does not name.
 */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { type LayerConfig, PRE_NORMS } from '../decoder.ts'
import type { ConfigSource } from './config-source.ts'
import { EXPERT_FIELDS, expertsOf, sparseLayers } from './experts.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { QWEN_WINDOW_FIELDS, qwenWindows } from './qwen-windows.ts'
import { plainRope } from './rope-fields.ts'

const ATTENTION_FIELDS = { ...DECODER_FIELDS, ...ROPE_FIELDS, ...QWEN_WINDOW_FIELDS, attention_bias: FIELD.flag }

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

function describeExperts(source: ConfigSource): (index: number) => LayerConfig['feedForward'] {
  const fields = source.read(DECODER_FIELDS)
  const normalised = source.read({ norm_topk_prob: EXPERT_FIELDS.norm_topk_prob }).norm_topk_prob === true
  const experts = expertsOf(source, fields, { normalised, sharedSize: null, stacked: false })
  const dense = plainFeedForward(source, fields)
  const isSparse = sparseLayers(source)
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
  describe: (source) => describe(source, describeExperts(source)),
}
