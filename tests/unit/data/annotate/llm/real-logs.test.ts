/**
 * Real logs through both stages with a model that answers from the rule: what it says must come back, whatever the logs hold.
 */
import { expect, it } from 'vitest'
import { labelAgreement } from '../../../../../data/annotate/label-agreement.ts'
import { annotateLineage } from '../../../../../data/annotate/lineage.ts'
import { importFiles } from '../../../../../data/import/import-files.ts'
import { packageFile } from '../../../../../models/package-root.ts'
import { annotateWith } from '../../../../fixtures/annotate-with.ts'

it('labels real logs as the model says, or KEEP where a quote of it is too short to count', async () => {
  const folders = ['who-and-when', 'tau-bench'].map((name) => packageFile('data', 'samples', name))
  const { trajectories } = await importFiles(folders)
  const byTask = new Map(trajectories.map((run) => [run.task, run]))
  const runs = [...byTask.values()].filter(({ interactions }) => interactions.length <= 16).slice(0, 6)
  const result = await annotateWith(runs, () => null)
  const { boundaries } = labelAgreement(
    result.rows,
    runs.map((run) => annotateLineage(run)),
  )
  expect(boundaries).toMatchObject({ onlyA: 0, earlier: 0, later: 0 })
  expect(boundaries.equal).toBeGreaterThan(10 * boundaries.onlyB)
  const failures = result.tallies.flatMap(({ recordFailures, verdictFailures }) => [
    ...recordFailures,
    ...verdictFailures,
  ])
  expect(failures.filter((code) => code !== 'weak-quote')).toEqual([])
})
