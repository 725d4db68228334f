/**
 * A dataset without some of its groups: what a choice may look at before the test part is opened. Pure.
 */
import type { Dataset } from './dataset.ts'
import { selectPairs } from './select-pairs.ts'

/**
 * The pair table of the view does not hold the pairs of these groups, so no code can find their labels or features; the
 * vectors that only those pairs use throw when they are read. The other pairs keep their order and their trajectory numbers,
 * so a router trained on the view equals one trained on the same groups of the whole dataset bit for bit.
 *   groups  names as in `dataset.trajectories`; a name that no trajectory has is ignored
 */
export function withholdGroups(dataset: Dataset, groups: ReadonlySet<string>): Dataset {
  const { pairs, trajectories, vectors } = dataset
  const isKept = trajectories.map(({ group }) => !groups.has(group))
  const kept = Array.from(pairs.trajectory.keys()).filter((pair) => isKept[pairs.trajectory[pair] ?? -1] === true)
  const view = selectPairs(pairs, Int32Array.from(kept))
  const withheld = new Uint8Array(vectors.rows).fill(1)
  for (const column of [view.hRow, view.qRow, view.topRows]) for (const row of column) if (row >= 0) withheld[row] = 0
  const ready = view.label.reduce((sum, label) => sum + label, 0)
  return {
    ...dataset,
    manifest: { ...dataset.manifest, counts: { ...dataset.manifest.counts, pairs: view.count, ready } },
    pairs: view,
    vectors: { ...vectors, withheld },
  }
}
