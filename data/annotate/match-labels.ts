/**
 * Puts labels beside the runs they were made from, and refuses labels of other runs.
 */
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { LabelRow } from './label-record.ts'

export interface LabelledRun {
  readonly trajectory: Trajectory
  readonly row: LabelRow
}

/**
 * Runs that have labels, in the order of `trajectories`; runs without labels are left out.
 * @throws labels-mismatch for labels of an unknown run, of another length, or of an interaction that does not exist
 */
export function matchLabels(trajectories: readonly Trajectory[], rows: readonly LabelRow[]): readonly LabelledRun[] {
  const rowOf = new Map(rows.map((row) => [row.trajectory, row]))
  const known = new Set(trajectories.map((trajectory) => trajectory.id))
  for (const row of rows) if (!known.has(row.trajectory)) throw mismatch(row, 'no run with this id is there')
  const matched: LabelledRun[] = []
  for (const trajectory of trajectories) {
    const row = rowOf.get(trajectory.id)
    if (row === undefined) continue
    const count = trajectory.interactions.length
    if (row.interactionCount !== count)
      throw mismatch(row, `they were made from ${row.interactionCount} interactions, the run has ${count}`)
    const indices = new Set(trajectory.interactions.map((interaction) => interaction.index))
    const stray = row.labels.find((label) => !indices.has(label.interaction))
    if (stray !== undefined) throw mismatch(row, `interaction ${stray.interaction} does not exist`)
    matched.push({ trajectory, row })
  }
  return matched
}

function mismatch(row: LabelRow, problem: string): AppError {
  return new AppError(
    'labels-mismatch',
    `the labels of run ${JSON.stringify(row.trajectory)} do not belong to these runs: ${problem}; ` +
      'annotate the runs again with `keepready annotate`',
    { details: { trajectory: row.trajectory } },
  )
}
