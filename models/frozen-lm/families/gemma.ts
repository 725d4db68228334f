/** What Gemma 2 and 3 share: norms around both blocks with weights stored minus one, scaled embeddings, tanh GELU. */
import { DECODER_FIELDS, type DecoderFields, FIELD } from '../config-fields.schema.ts'
import type { AttentionConfig, DecoderConfig, LayerNorms } from '../decoder.ts'
import type { ConfigSource } from './config-source.ts'
import { plainAttention, plainDecoder, plainFeedForward } from './family.ts'

export const GEMMA_FIELDS = {
  ...DECODER_FIELDS,
  attention_bias: FIELD.flag,
  hidden_activation: FIELD.optionalText,
  query_pre_attn_scalar: FIELD.positive.default(256),
  attn_logit_softcapping: FIELD.optionalPositive,
  final_logit_softcapping: FIELD.optionalPositive,
  sliding_window: FIELD.optionalSize,
  layer_types: FIELD.layerTypes,
  use_bidirectional_attention: FIELD.flag,
}

const SANDWICH_NORMS: LayerNorms = {
  beforeMixer: 'input_layernorm',
  afterMixer: 'post_attention_layernorm',
  beforeFeedForward: 'pre_feedforward_layernorm',
  afterFeedForward: 'post_feedforward_layernorm',
}

/** @param attentionAt how layer `index` differs from the family's attention */
export function gemmaDecoder(
  source: ConfigSource,
  fields: DecoderFields & {
    readonly attention_bias?: boolean | null | undefined
    readonly hidden_activation?: string | null | undefined
    readonly query_pre_attn_scalar: number
    readonly attn_logit_softcapping?: number | null | undefined
    readonly final_logit_softcapping?: number | null | undefined
    readonly use_bidirectional_attention?: boolean | null | undefined
  },
  parts: {
    readonly ropes: DecoderConfig['ropes']
    readonly attentionAt: (index: number) => Partial<AttentionConfig>
  },
): DecoderConfig {
  if (fields.use_bidirectional_attention === true)
    throw source.refuse('use_bidirectional_attention is true: only causal decoders are read')
  const biased = fields.attention_bias === true
  const attention: AttentionConfig = {
    ...plainAttention(source, fields),
    scale: fields.query_pre_attn_scalar ** -0.5,
    softCap: fields.attn_logit_softcapping ?? null,
    queryKeyValueBias: biased,
    outputBias: biased,
  }
  const hidden_act = fields.hidden_activation ?? 'gelu_pytorch_tanh'
  const feedForward = plainFeedForward(source, { ...fields, hidden_act })
  const decoder = plainDecoder(source, fields, {
    ropes: parts.ropes,
    layerAt: (index) => ({
      norms: SANDWICH_NORMS,
      mixer: { ...attention, ...parts.attentionAt(index) },
      feedForward,
    }),
  })
  return {
    ...decoder,
    norm: { ...decoder.norm, weightOffset: 1 },
    embeddingScale: Math.sqrt(decoder.hiddenSize),
    head: { ...decoder.head, softCap: fields.final_logit_softcapping ?? null },
  }
}
