/**
 * Logits of given pairs, and the metrics of a split.
 */
import type { PairTable } from '../data/store/dataset.ts'
import type { SplitMetrics } from '../models/router/manifest.ts'
import { averagePrecision } from '../src/metrics/average-precision.ts'
import { withinTrajectoryAuroc } from '../src/metrics/within-trajectory.ts'
import type { TrainerBackend } from './backends/backend.ts'
import { type BatchSource, buildBatch } from './batch.ts'
import { MIX } from './epoch-order.ts'
import type { TrajectoryPairs } from './split-pairs.ts'

/**
 * Bounds a batch: 4 x 1,280 pairs x 2,048 hidden units are 42 MB. All pairs of a run of 50 interactions fit into one slot:
 * in two its vectors would go through the first layer twice.
 */
const MAX_PAIRS_PER_SLOT = 1280

/** @returns one logit per pair, in the order of the lists */
export async function predict(
  backend: TrainerBackend,
  source: BatchSource,
  trajectories: readonly TrajectoryPairs[],
  signal?: AbortSignal,
): Promise<Float32Array> {
  const slots = trajectories.flatMap((pairs) =>
    Array.from({ length: Math.ceil(pairs.length / MAX_PAIRS_PER_SLOT) }, (_, i) =>
      pairs.slice(i * MAX_PAIRS_PER_SLOT, (i + 1) * MAX_PAIRS_PER_SLOT),
    ),
  )
  const out = new Float32Array(slots.reduce((sum, slot) => sum + slot.length, 0))
  let written = 0
  for (let start = 0; start < slots.length; start += MIX) {
    signal?.throwIfAborted()
    const batch = buildBatch(source, slots.slice(start, start + MIX), { positiveWeight: 1 })
    const logits = await backend.logits(batch)
    batch.pairIndex.forEach((pair, row) => {
      if (pair >= 0) out[written++] = logits[row] as number
    })
  }
  return out
}

/** @param logits one per pair, in the order of the lists */
export function splitMetrics(options: {
  readonly pairs: PairTable
  readonly trajectories: readonly TrajectoryPairs[]
  readonly logits: Float32Array
  readonly positiveWeight: number
}): SplitMetrics {
  const { pairs, trajectories, logits, positiveWeight } = options
  const flat = trajectories.flat()
  const labels = flat.map((pair) => pairs.label[pair] as number)
  const weights = trajectories.flatMap((list) => list.map(() => 1 / list.length))
  let loss = 0
  flat.forEach((_, i) => {
    const z = logits[i] as number
    const y = labels[i] as number
    const bce = Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - y * z
    loss += ((weights[i] as number) / trajectories.length) * (y === 1 ? positiveWeight : 1) * bce
  })
  return {
    trajectories: trajectories.length,
    pairs: flat.length,
    positives: labels.reduce((sum, label) => sum + label, 0),
    withinAuroc: withinTrajectoryAuroc(
      logits,
      labels,
      flat.map((pair) => pairs.trajectory[pair] as number),
    ),
    prAuc: averagePrecision(logits, labels, weights),
    lossNats: loss,
  }
}
