/** From a model directory, a layer and a device to a running frozen LM. */
import { AppError } from '../../src/errors.ts'
import { boundedTokens } from './attention-scores.ts'
import { boundRuns } from './bounded-runs.ts'
import { openCheckpoint } from './checkpoint.ts'
import { openOnDevice } from './devices/open-on-device.ts'
import { completeExecution, type Execution } from './execution.ts'
import { cuttableScores, planMemory } from './memory-plan.ts'
import type { FrozenLm } from './port.ts'

export interface FrozenLmOptions {
  /** HF checkpoint directory; `resolveModel` turns what a person typed into it. */
  readonly directory: string
  /** Hidden states after this decoder layer (1-based, before the final norm); 0 = embeddings. */
  readonly layer: number | 'default'
  /** How it is run; default: on the CPU. A device is never replaced silently. */
  readonly execution?: Partial<Execution>
  /**
   * Tokens of the longest view, for the memory budget and for ropes that depend on it; Infinity for the model's whole
   * context, the default.
   */
  readonly viewTokens?: number
  /** Bytes that caches above the model may fill, for the memory budget. */
  readonly cacheBytes?: number
}

/** Two thirds of the depth, rounded up (DESIGN section 15). */
export function defaultLayer(layerCount: number): number {
  return Math.ceil((2 * layerCount) / 3)
}

/**
 * @throws layer-out-of-range, memory-budget-too-small, and what openCheckpoint and openOnDevice throw
 */
export async function loadFrozenLm(options: FrozenLmOptions): Promise<FrozenLm> {
  const { directory, layer: wanted, cacheBytes = 0 } = options
  const checkpoint = openCheckpoint(directory, options.viewTokens)
  const layer = resolveLayer({ directory, wanted, layerCount: checkpoint.config.layerCount })
  const execution = completeExecution(options.execution)
  const { contextLength } = checkpoint.config
  const viewTokens = Math.min(contextLength, options.viewTokens ?? contextLength)
  // Refused before anything is allocated.
  const { runTokens } = planMemory({ checkpoint, layer, execution, viewTokens, cacheBytes })
  const lm = await openOnDevice({ checkpoint, layer, execution })
  const scores = cuttableScores({ checkpoint, layer, execution })
  const affordable = execution.memoryBytes === null ? Number.POSITIVE_INFINITY : runTokens
  if (scores === null && affordable === Number.POSITIVE_INFINITY) return lm
  return boundRuns(lm, (total) => Math.min(affordable, scores === null ? affordable : boundedTokens(scores, total)))
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
