/** From a model directory, a layer and a device to a running frozen LM. */
import { AppError } from '../../src/errors.ts'
import { openCheckpoint } from './checkpoint.ts'
import { openOnDevice } from './devices/open-on-device.ts'
import { completeExecution, type Execution } from './execution.ts'
import type { FrozenLm } from './port.ts'

export interface FrozenLmOptions {
  /** HF checkpoint directory; `resolveModelDirectory` turns what a person typed into it. */
  readonly directory: string
  /** Hidden states after this decoder layer (1-based, before the final norm); 0 = embeddings. */
  readonly layer: number | 'default'
  /** How it is run; default: on the CPU. A device is never replaced silently. */
  readonly execution?: Partial<Execution>
}

/** Two thirds of the depth, rounded up (DESIGN section 15). */
export function defaultLayer(layerCount: number): number {
  return Math.ceil((2 * layerCount) / 3)
}

/**
 * @throws layer-out-of-range, and what openCheckpoint and openOnDevice throw
 */
export async function loadFrozenLm(options: FrozenLmOptions): Promise<FrozenLm> {
  const { directory, layer: wanted } = options
  const checkpoint = openCheckpoint(directory)
  const layer = resolveLayer({ directory, wanted, layerCount: checkpoint.config.layerCount })
  return openOnDevice({ checkpoint, layer, execution: completeExecution(options.execution) })
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
