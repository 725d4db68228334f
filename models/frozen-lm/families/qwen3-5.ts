/**
 * Qwen3.5 (text part): three gated-delta-net layers, then one of full attention with an output gate whose heads are
 * rotated in their first quarter only. Norm weights are stored minus one, except for that of the delta net.
 */
import { DECODER_FIELDS, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { type DeltaNetConfig, PRE_NORMS } from '../decoder.ts'
import { type Family, plainAttention, plainDecoder, plainFeedForward } from './family.ts'
import { layerTypes } from './layer-types.ts'
import { plainRope } from './rope-fields.ts'

const FIELDS = {
  ...DECODER_FIELDS,
  ...ROPE_FIELDS,
  attention_bias: FIELD.flag,
  attn_output_gate: FIELD.flag,
  full_attention_interval: FIELD.size.default(4),
  layer_types: FIELD.layerTypes,
  linear_conv_kernel_dim: FIELD.taps,
  linear_num_key_heads: FIELD.heads,
  linear_num_value_heads: FIELD.heads,
  linear_key_head_dim: FIELD.headSize,
  linear_value_head_dim: FIELD.headSize,
  partial_rotary_factor: FIELD.positive.default(0.25),
}

/** Values of all layers together, 1 GiB: several times what the largest published model keeps. */
const LARGEST_STATE = 2 ** 28

export const qwen35: Family = {
  architectures: ['Qwen3_5ForCausalLM'],
  modelTypes: ['qwen3_5_text'],
  describe(source) {
    const fields = source.read(FIELDS)
    const { linear_num_key_heads: keyHeadCount, linear_num_value_heads: valueHeadCount } = fields
    if (valueHeadCount % keyHeadCount !== 0)
      throw source.refuse(`linear_num_value_heads ${valueHeadCount} is no multiple of the ${keyHeadCount} key heads`)
    const stateSize = valueHeadCount * fields.linear_key_head_dim * fields.linear_value_head_dim
    if (stateSize * fields.num_hidden_layers > LARGEST_STATE)
      throw source.refuse(
        `the recurrent state has ${stateSize} values in each of ${fields.num_hidden_layers} layers, at most ${LARGEST_STATE} are supported`,
      )
    const deltaNet: DeltaNetConfig = {
      kind: 'delta-net',
      keyHeadCount,
      valueHeadCount,
      keyHeadSize: fields.linear_key_head_dim,
      valueHeadSize: fields.linear_value_head_dim,
      convolutionSize: fields.linear_conv_kernel_dim,
    }
    const biased = fields.attention_bias === true
    const attention = {
      ...plainAttention(source, fields),
      queryKeyNorm: 'head' as const,
      queryKeyValueBias: biased,
      outputBias: biased,
      outputGate: fields.attn_output_gate !== false,
    }
    const types = layerTypes(source, {
      listed: fields.layer_types,
      layerCount: fields.num_hidden_layers,
      allowed: ['linear_attention', 'full_attention'],
      otherwise: (index) =>
        (index + 1) % fields.full_attention_interval === 0 ? 'full_attention' : 'linear_attention',
    })
    const feedForward = plainFeedForward(source, fields)
    const { headSize } = attention
    const contextLength = fields.max_position_embeddings
    const decoder = plainDecoder(source, fields, {
      ropes: [plainRope(source, fields, { headSize, contextLength, partial: true })],
      layerAt: (index) => ({
        norms: PRE_NORMS,
        mixer: types[index] === 'full_attention' ? attention : deltaNet,
        feedForward,
      }),
    })
    return { ...decoder, norm: { ...decoder.norm, weightOffset: 1 } }
  },
}
