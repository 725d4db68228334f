/** From a model directory, a layer and a device to a running frozen LM. */
import { AppError } from '../../src/errors.ts'
import { openCheckpoint } from './checkpoint.ts'
import type { Device, FrozenLm } from './port.ts'
import { createSession } from './session.ts'

export interface FrozenLmOptions {
  /** HF checkpoint directory; `resolveModelDirectory` turns what a person typed into it. */
  readonly directory: string
  /** Hidden states after this decoder layer (1-based, before the final norm); 0 = embeddings. */
  readonly layer: number | 'default'
  /** Default cpu; another one is never replaced silently. */
  readonly device?: Device
}

/** Two thirds of the depth, rounded up (DESIGN section 15). */
export function defaultLayer(layerCount: number): number {
  return Math.ceil((2 * layerCount) / 3)
}

/**
 * @throws device-unavailable, layer-out-of-range, and what openCheckpoint and createSession throw
 */
export async function loadFrozenLm(options: FrozenLmOptions): Promise<FrozenLm> {
  const { directory, layer: wanted, device = 'cpu' } = options
  if (device !== 'cpu')
    throw new AppError(
      'device-unavailable',
      `device ${device} is not available in this version: use the device cpu (nothing falls back silently)`,
      { details: { device } },
    )
  const checkpoint = openCheckpoint(directory)
  const layer = resolveLayer({ directory, wanted, layerCount: checkpoint.config.layerCount })
  return createSession(checkpoint, layer)
}

/**
 * The layer that is meant: what loading and describing a model agree on.
 * @throws layer-out-of-range
 */
export function resolveLayer(options: {
  readonly directory: string
  readonly wanted: number | 'default'
  readonly layerCount: number
}): number {
  const { directory, wanted, layerCount } = options
  const layer = wanted === 'default' ? defaultLayer(layerCount) : wanted
  if (Number.isInteger(layer) && layer >= 0 && layer <= layerCount) return layer
  throw new AppError(
    'layer-out-of-range',
    `layer ${layer} does not exist: ${directory} has layers 0 (embeddings) to ${layerCount}, the default is ${defaultLayer(layerCount)}`,
    { details: { layer, layerCount } },
  )
}
