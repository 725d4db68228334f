/**
 * Which pairs of which trajectories stand in which batch of an epoch (mix4: reference/trainer.md, section 3). Pure.
 */
import { type Rng, shuffled } from '../src/rng.ts'

/** Trajectories per batch, and visits of each trajectory per epoch: a visit takes a quarter of its pairs. */
export const MIX = 4
export const MAX_PAIRS_PER_VISIT = 256
/** Short runs give all they have instead of two or three pairs (assumption). */
const MIN_PAIRS_PER_VISIT = 16

/**
 * Every trajectory is visited MIX times, with fresh quarters of its shuffled pairs, in MIX rounds of shuffled order.
 *   trajectories  pairs of each trajectory, none empty
 *   returns       batches of up to MIX slots, each slot pairs of one trajectory
 */
export function epochOrder(trajectories: readonly (readonly number[])[], rng: Rng): readonly (readonly number[])[][] {
  const queues = trajectories.map((pairs) => shuffled(pairs, rng))
  const slots: (readonly number[])[] = []
  for (let round = 0; round < MIX; round++) {
    for (const t of shuffled([...queues.keys()], rng)) {
      const queue = queues[t] ?? []
      const size = pairsPerVisit(queue.length)
      // Past the end the queue starts over: only runs of few pairs get there.
      slots.push(Array.from({ length: size }, (_, i) => queue[(round * size + i) % queue.length] as number))
    }
  }
  const batches: (readonly number[])[][] = []
  for (let start = 0; start < slots.length; start += MIX) batches.push(slots.slice(start, start + MIX))
  return batches
}

export function pairsPerVisit(pairs: number): number {
  return Math.min(pairs, MAX_PAIRS_PER_VISIT, Math.max(MIN_PAIRS_PER_VISIT, Math.ceil(pairs / MIX)))
}

/** Pairs that one epoch trains on. */
export function pairsPerEpoch(trajectories: readonly (readonly number[])[]): number {
  return trajectories.reduce((sum, pairs) => sum + MIX * pairsPerVisit(pairs.length), 0)
}
