/** `layer_types` of config.json: which layers see a window, everything, or go through a recurrent state. */
import type { ConfigSource } from './config-source.ts'

export type LayerType = 'full_attention' | 'sliding_attention' | 'linear_attention'

/**
 * The type of each layer: what config.json lists or, in files that list none, what `otherwise` says.
 * @param allowed types that the family builds
 * @throws config-invalid for a list that is too short or names another type
 */
export function layerTypes(
  source: ConfigSource,
  types: {
    readonly listed: readonly string[] | null | undefined
    readonly layerCount: number
    readonly allowed: readonly LayerType[]
    readonly otherwise: (index: number) => LayerType
  },
): readonly LayerType[] {
  const { listed, layerCount, allowed, otherwise } = types
  if (listed === null || listed === undefined) return Array.from({ length: layerCount }, (_, i) => otherwise(i))
  if (listed.length < layerCount)
    throw source.refuse(`layer_types names ${listed.length} layers, num_hidden_layers is ${layerCount}`)
  return listed.slice(0, layerCount).map((name) => {
    const type = allowed.find((known) => known === name)
    if (type === undefined)
      throw source.refuse(`layer type ${name} is not supported for ${source.architecture}, only ${allowed.join(', ')}`)
    return type
  })
}

/** The window of a layer of that type. */
export function windowOf(source: ConfigSource, type: LayerType, window: number | null | undefined): number | null {
  if (type !== 'sliding_attention') return null
  if (window === null || window === undefined)
    throw source.refuse('layer_types names sliding_attention layers, sliding_window is missing')
  return window
}
