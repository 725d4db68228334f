/**
 * Which checkpoints of a run become training data. Pure.
 */
import { createRng, deriveSeed } from '../src/rng.ts'
import { endCheckpoint, type Trajectory } from '../src/trajectory/trajectory.ts'

/** So that single long runs do not dominate (DESIGN section 12). */
export const DEFAULT_MAX_CHECKPOINTS_PER_RUN = 64

/** Checkpoint 2 is the first with a target. */
const FIRST = 2

/**
 * Checkpoints 2..N-1, or `max` of them: the range is cut into `max` equal pieces and one is drawn from each.
 *   returns  ascending; empty for runs of fewer than 3 interactions; depends on the run's id and N and the seed only
 */
export function chooseCheckpoints(
  trajectory: Trajectory,
  options: { readonly max: number; readonly seed: number },
): readonly number[] {
  const available = Math.max(0, endCheckpoint(trajectory) - FIRST)
  if (available <= options.max) return Array.from({ length: available }, (_, k) => FIRST + k)
  const rng = createRng(deriveSeed(options.seed, 'checkpoints', trajectory.id))
  return Array.from({ length: options.max }, (_, k) => {
    const start = Math.floor((k * available) / options.max)
    const end = Math.floor(((k + 1) * available) / options.max)
    return FIRST + start + rng.nextBelow(end - start)
  })
}
