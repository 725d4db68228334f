/**
 * What an extraction has to do, decided before anything is computed. Pure.
 */
import type { LabelRow } from '../data/annotate/label-record.ts'
import type { DatasetTrajectory } from '../data/store/dataset.ts'
import { AppError } from '../src/errors.ts'
import { endCheckpoint, type Trajectory } from '../src/trajectory/trajectory.ts'
import type { RecipeName } from '../src/view/recipe.ts'
import { candidatesPer } from '../src/view/recipe-shape.ts'
import { chooseCheckpoints } from './choose-checkpoints.ts'

export interface PlannedRun {
  readonly trajectory: Trajectory
  readonly checkpoints: readonly number[]
  readonly labels: LabelRow
  /** Vectors to extract: the unit of progress. */
  readonly views: number
}

export interface ExtractionPlan {
  /** In the order of the runs given. */
  readonly runs: readonly PlannedRun[]
  /** Ids of runs without a checkpoint (fewer than 3 interactions). */
  readonly dropped: readonly string[]
}

/**
 * Joins runs and labels by trajectory id and chooses the checkpoints.
 * @throws rows-invalid (an id twice), labels-mismatch (no labels for a run, or made from another version of it),
 *   training-data-insufficient (no run has a checkpoint)
 */
export function planExtraction(options: {
  readonly runs: readonly Trajectory[]
  readonly labels: readonly LabelRow[]
  readonly recipe: RecipeName
  readonly maxCheckpointsPerRun: number
  readonly seed: number
}): ExtractionPlan {
  const rowOf = new Map(options.labels.map((row) => [row.trajectory, row]))
  const seen = new Set<string>()
  const runs: PlannedRun[] = []
  const dropped: string[] = []
  for (const trajectory of options.runs) {
    if (seen.has(trajectory.id))
      throw new AppError('rows-invalid', `two runs have the id ${trajectory.id}: import the logs again into one file`)
    seen.add(trajectory.id)
    const checkpoints = chooseCheckpoints(trajectory, { max: options.maxCheckpointsPerRun, seed: options.seed })
    if (checkpoints.length === 0) dropped.push(trajectory.id)
    else {
      const labels = rowOf.get(trajectory.id)
      checkLabels(trajectory, labels)
      runs.push({ trajectory, checkpoints, labels, views: countViews(checkpoints, options.recipe) })
    }
  }
  if (runs.length === 0)
    throw new AppError(
      'training-data-insufficient',
      `none of ${options.runs.length} runs has 3 or more interactions, so there is no checkpoint to learn from: ` +
        'import longer runs',
    )
  return { runs, dropped }
}

/** @param groupOf group of a run -> the group that holds its near copies too */
export function toDatasetTrajectory(
  { id, group, domain, interactions }: Trajectory,
  groupOf: ReadonlyMap<string, string>,
): DatasetTrajectory {
  return { id, group: groupOf.get(group) ?? group, domain, length: interactions.length }
}

function checkLabels(trajectory: Trajectory, row: LabelRow | undefined): asserts row is LabelRow {
  const advice = 'annotate these runs again with `keepready annotate`'
  const details = { trajectory: trajectory.id }
  if (row === undefined)
    throw new AppError('labels-mismatch', `the labels hold no row for run ${trajectory.id}: ${advice}`, { details })
  const count = endCheckpoint(trajectory)
  if (row.interactionCount !== count)
    throw new AppError(
      'labels-mismatch',
      `run ${trajectory.id} has ${count} interactions, its labels were made from ${row.interactionCount}: ${advice}`,
      { details },
    )
  const labelled = new Set<number>()
  for (const { interaction } of row.labels) {
    const problem =
      interaction >= count ? 'which it does not have' : labelled.has(interaction) ? 'which has another one' : null
    if (problem !== null)
      throw new AppError(
        'labels-mismatch',
        `run ${trajectory.id} has a label for interaction ${interaction}, ${problem}: ${advice}`,
        { details },
      )
    labelled.add(interaction)
  }
  // The last interaction of all is nobody's target.
  for (let i = 0; i < count - 2; i++)
    if (!labelled.has(i))
      throw new AppError('labels-mismatch', `run ${trajectory.id} has no label for interaction ${i}: ${advice}`, {
        details,
      })
}

/** One q per checkpoint; one h per target of the last checkpoint or one per pair. */
function countViews(checkpoints: readonly number[], recipe: RecipeName): number {
  const pairs = checkpoints.reduce((sum, checkpoint) => sum + checkpoint - 1, 0)
  const targets = Math.max(...checkpoints) - 1
  return checkpoints.length + (candidatesPer(recipe) === 'interaction' ? targets : pairs)
}
