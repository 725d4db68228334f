/**
 * What Qwen3-Next and Qwen3.5 share: three gated-delta-net layers, then one of full attention with an output gate whose
 * heads are rotated in their first quarter only. Norm weights are stored minus one, except for that of the delta net.
 */
import { DECODER_FIELDS, type DecoderFields, FIELD, ROPE_FIELDS } from '../config-fields.schema.ts'
import { type DecoderConfig, type DeltaNetConfig, type LayerConfig, PRE_NORMS } from '../decoder.ts'
import type { ConfigSource } from './config-source.ts'
import { plainAttention, plainDecoder } from './family.ts'
import { layerTypes } from './layer-types.ts'
import { plainRope } from './rope-fields.ts'

const DELTA_FIELDS = {
  attention_bias: FIELD.flag,
  attn_output_gate: FIELD.flag,
  full_attention_interval: FIELD.size.default(4),
  layer_types: FIELD.layerTypes,
  linear_conv_kernel_dim: FIELD.taps,
  linear_num_key_heads: FIELD.heads,
  linear_num_value_heads: FIELD.heads,
  linear_key_head_dim: FIELD.headSize,
  linear_value_head_dim: FIELD.headSize,
  ...ROPE_FIELDS,
  partial_rotary_factor: FIELD.positive.default(0.25),
}

/** Values of all layers together, 1 GiB: several times what the largest published model keeps. */
const LARGEST_STATE = 2 ** 28

/** The family's fields in general; files without dense layers leave out their size. */
export function readDeltaFields(source: ConfigSource): DecoderFields {
  return source.read({ ...DECODER_FIELDS, intermediate_size: FIELD.size.default(1) })
}

export function deltaDecoder(
  source: ConfigSource,
  fields: DecoderFields,
  parts: {
    readonly fusedProjections: boolean
    readonly feedForwardAt: (index: number) => LayerConfig['feedForward']
  },
): DecoderConfig {
  const own = source.read(DELTA_FIELDS)
  const deltaNet: DeltaNetConfig = {
    kind: 'delta-net',
    keyHeadCount: own.linear_num_key_heads,
    valueHeadCount: own.linear_num_value_heads,
    keyHeadSize: own.linear_key_head_dim,
    valueHeadSize: own.linear_value_head_dim,
    convolutionSize: own.linear_conv_kernel_dim,
    fusedProjections: parts.fusedProjections,
  }
  requireReasonable(source, deltaNet, fields.num_hidden_layers)
  const biased = own.attention_bias === true
  const attention = {
    ...plainAttention(source, fields),
    queryKeyNorm: 'head' as const,
    queryKeyValueBias: biased,
    outputBias: biased,
    outputGate: own.attn_output_gate !== false,
  }
  const types = layerTypes(source, {
    listed: own.layer_types,
    layerCount: fields.num_hidden_layers,
    allowed: ['linear_attention', 'full_attention'],
    otherwise: (index) => ((index + 1) % own.full_attention_interval === 0 ? 'full_attention' : 'linear_attention'),
  })
  const { headSize } = attention
  const contextLength = fields.max_position_embeddings
  const decoder = plainDecoder(source, fields, {
    ropes: [plainRope(source, own, { headSize, contextLength, partial: true })],
    layerAt: (index) => ({
      norms: PRE_NORMS,
      mixer: types[index] === 'full_attention' ? attention : deltaNet,
      feedForward: parts.feedForwardAt(index),
    }),
  })
  return { ...decoder, norm: { ...decoder.norm, weightOffset: 1 } }
}

function requireReasonable(source: ConfigSource, deltaNet: DeltaNetConfig, layerCount: number): void {
  const { keyHeadCount, valueHeadCount, keyHeadSize, valueHeadSize } = deltaNet
  if (valueHeadCount % keyHeadCount !== 0)
    throw source.refuse(`linear_num_value_heads ${valueHeadCount} is no multiple of the ${keyHeadCount} key heads`)
  const stateSize = valueHeadCount * keyHeadSize * valueHeadSize
  if (stateSize * layerCount > LARGEST_STATE)
    throw source.refuse(
      `the recurrent state has ${stateSize} values in each of ${layerCount} layers, at most ${LARGEST_STATE} are supported`,
    )
}
