/** Sliding windows as Qwen2, Qwen3 and Qwen3-MoE configure them: off unless `use_sliding_window`, then in upper layers. */
import { FIELD } from '../config-fields.schema.ts'
import type { ConfigSource } from './config-source.ts'
import { type LayerType, layerTypes, windowOf } from './layer-types.ts'

export const QWEN_WINDOW_FIELDS = {
  sliding_window: FIELD.optionalSize,
  use_sliding_window: FIELD.flag,
  max_window_layers: FIELD.optionalCount,
  layer_types: FIELD.layerTypes,
} as const

/** Layers below this one see everything where config.json does not say. */
const DEFAULT_FULL_LAYERS = 28

/** @returns the window of each layer, null for none */
export function qwenWindows(
  source: ConfigSource,
  fields: {
    readonly num_hidden_layers: number
    readonly sliding_window?: number | null | undefined
    readonly use_sliding_window?: boolean | null | undefined
    readonly max_window_layers?: number | null | undefined
    readonly layer_types?: readonly string[] | null | undefined
  },
): readonly (number | null)[] {
  const window = fields.use_sliding_window === true ? fields.sliding_window : null
  const fullLayers = fields.max_window_layers ?? DEFAULT_FULL_LAYERS
  const hasWindow = window !== null && window !== undefined
  const types = layerTypes(source, {
    listed: fields.layer_types,
    layerCount: fields.num_hidden_layers,
    allowed: ['full_attention', 'sliding_attention'],
    otherwise: (index): LayerType => (hasWindow && index >= fullLayers ? 'sliding_attention' : 'full_attention'),
  })
  return types.map((type) => windowOf(source, type, window))
}
