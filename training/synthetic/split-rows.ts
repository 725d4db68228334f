/**
 * The wrong way to split, for comparison: pairs of one run stand on both sides. Each run becomes several groups that share
 * its pairs at random, so that the grouped rotations of everything else deal single rows. Pure.
 */
import { PARTS } from '../../data/rotations.ts'
import type { Dataset } from '../../data/store/dataset.ts'
import { createRng, deriveSeed } from '../../src/rng.ts'

export function splitRows(dataset: Dataset, seed: number): Dataset {
  const shares = PARTS.length
  const rng = createRng(deriveSeed(seed, 'split-rows'))
  return {
    ...dataset,
    trajectories: dataset.trajectories.flatMap((run) =>
      PARTS.map((share) => ({ ...run, id: `${run.id}/${share}`, group: `${run.group}/${share}` })),
    ),
    pairs: {
      ...dataset.pairs,
      trajectory: dataset.pairs.trajectory.map((run) => run * shares + rng.nextBelow(shares)),
    },
  }
}
