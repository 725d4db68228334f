/**
 * Which pairs all runs hold out. A pair is (trajectory id, interaction, checkpoint): pair numbers, vectors and views may
 * differ from run to run, the question and its right answer may not. Pure.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { AppError } from '../../src/errors.ts'
import type { ComparedRun } from './compared-run.ts'

export interface MatchedPairs {
  /** (runs)(n) pair number of the m-th matched pair in each run's dataset; in the order of the first. */
  readonly rows: readonly Int32Array[]
  /** (runs) pairs each holds out. */
  readonly heldOut: readonly number[]
}

/**
 * @throws runs-incomparable when no pair is in all runs, or a task is tested in one rotation of one run and in another of
 * the other; labels-mismatch when a pair's label, or how much future it saw, is not the same
 */
export function matchPairs(runs: readonly ComparedRun[]): MatchedPairs {
  const [first, ...others] = runs
  if (first === undefined) throw new AppError('invariant', 'a comparison needs a run')
  for (const other of others) requireSameParts(first, other)
  const heldOut = runs.map(heldOutPairs)
  const indexes = heldOut.slice(1).map((pairs, at) => indexOf(others[at]?.dataset, pairs))
  const rows: number[][] = runs.map(() => [])
  for (const pair of heldOut[0] ?? []) {
    const key = keyOf(first.dataset, pair)
    const found = indexes.map((index) => index.get(key))
    if (found.some((row) => row === undefined)) continue
    rows[0]?.push(pair)
    found.forEach((row, at) => {
      rows[at + 1]?.push(row ?? -1)
    })
  }
  if (rows[0]?.length === 0)
    throw new AppError(
      'runs-incomparable',
      `no held-out pair (run, interaction, checkpoint) is in all of ${runs.map((run) => `${run.name} (${run.dataset.directory})`).join(', ')}: ` +
        'compare datasets that were extracted from the same runs.jsonl',
      { details: { runs: runs.map((run) => run.name) } },
    )
  others.forEach((other, at) => {
    requireSameLabels(first, rows[0] ?? [], other, rows[at + 1] ?? [])
  })
  return { rows: rows.map((list) => Int32Array.from(list)), heldOut: heldOut.map((pairs) => pairs.length) }
}

/** Pairs that some rotation's model was tested on, in the order of the dataset. */
function heldOutPairs({ predictions }: ComparedRun): readonly number[] {
  const { inputs } = predictions[0] ?? {}
  return predictions
    .filter((one) => one.inputs === inputs)
    .flatMap((one) => Array.from(one.pairs))
    .sort((a, b) => a - b)
}

function indexOf(dataset: Dataset | undefined, pairs: readonly number[]): ReadonlyMap<string, number> {
  if (dataset === undefined) return new Map()
  return new Map(pairs.map((pair) => [keyOf(dataset, pair), pair]))
}

/** The id stands last: it may hold any character. */
function keyOf({ pairs, trajectories }: Dataset, pair: number): string {
  return `${pairs.interaction[pair]}/${pairs.checkpoint[pair]}/${trajectories[pairs.trajectory[pair] ?? 0]?.id ?? ''}`
}

/**
 * Only then has neither model of a rotation trained on what the other is tested on, and only then do groups of one rotation
 * make one bootstrap stratum for both.
 */
function requireSameParts(first: ComparedRun, other: ComparedRun): void {
  const groupOf = new Map(other.dataset.trajectories.map(({ id, group }) => [id, group]))
  for (const { id, group } of first.dataset.trajectories) {
    const otherGroup = groupOf.get(id)
    if (otherGroup === undefined) continue
    const parts = [first.parts.get(group), other.parts.get(otherGroup)]
    if (parts[0] === parts[1]) continue
    throw new AppError(
      'runs-incomparable',
      `the run ${id} stands in part ${parts[0]} of ${first.name} and in part ${parts[1]} of ${other.name}, so one has trained on test groups of the other: ` +
        'train both with the same --seed, on datasets that hold the same runs',
      { details: { trajectory: id, runs: [first.name, other.name] } },
    )
  }
}

function requireSameLabels(
  first: ComparedRun,
  rows: readonly number[],
  other: ComparedRun,
  otherRows: readonly number[],
): void {
  const a = first.dataset.pairs
  const b = other.dataset.pairs
  const differs = (at: number): boolean => {
    const [p, q] = [rows[at] ?? 0, otherRows[at] ?? 0]
    return a.label[p] !== b.label[q] || a.futureInteractions[p] !== b.futureInteractions[q]
  }
  const wrong = rows.findIndex((_, at) => differs(at))
  if (wrong === -1) return
  const pair = rows[wrong] ?? 0
  const count = rows.filter((_, at) => differs(at)).length
  throw new AppError(
    'labels-mismatch',
    `${first.name} and ${other.name} were labelled differently: ${count} of ${rows.length} common pairs, the first at interaction ` +
      `${a.interaction[pair]}, checkpoint ${a.checkpoint[pair]} of ${first.dataset.trajectories[a.trajectory[pair] ?? 0]?.id ?? ''}: ` +
      'extract both datasets with the same labels.jsonl',
    { details: { pairs: count, runs: [first.name, other.name] } },
  )
}
