/** How much was tested: pairs, runs and groups of a sub-set over all rotations (each group is tested once). Pure. */
import type { SubsetCounts, SubsetName } from './evaluation-record.ts'
import { type RotationTest, readyGroupsOf } from './rotation-test.ts'

export function countSubset(tests: readonly RotationTest[], subset: SubsetName): SubsetCounts {
  const counts = { pairs: 0, ready: 0, runs: 0, mixedRuns: 0, groups: 0, readyGroups: 0 }
  for (const test of tests) {
    const { mask } = test.subsets[subset]
    const seen = test.runs.map(() => ({ pairs: 0, ready: 0 }))
    test.run.forEach((run, row) => {
      const own = seen[run]
      if (own === undefined || mask[row] === 0) return
      own.pairs += 1
      own.ready += test.labels[row] ?? 0
    })
    counts.pairs += seen.reduce((sum, run) => sum + run.pairs, 0)
    counts.ready += seen.reduce((sum, run) => sum + run.ready, 0)
    counts.runs += seen.filter((run) => run.pairs > 0).length
    counts.mixedRuns += seen.filter((run) => run.ready > 0 && run.ready < run.pairs).length
    counts.groups += new Set(test.runs.filter((_, i) => (seen[i]?.pairs ?? 0) > 0).map((run) => run.group)).size
    counts.readyGroups += readyGroupsOf(test, subset)
  }
  return counts
}
