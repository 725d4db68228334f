/**
 * The best and the worst held-out runs of a router as strips: interaction by checkpoint, p beside label and boundary.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { withinTrajectories } from '../../src/metrics/within-trajectory.ts'
import type { RotationScores } from './measure-predictor.ts'
import type { StripRecord } from './router-study-record.ts'

export const STRIPS_PER_RANK = 3
/** Rows and columns at most. */
export const STRIP_SIDE = 48
/** Smaller runs reach 0 or 1 by chance. */
const MIN_PAIRS = 20

interface RankedRun {
  readonly scores: RotationScores
  /** Index into test.runs. */
  readonly run: number
  readonly auroc: number
  readonly pairs: number
}

/**
 * Runs are ranked by AUROC over all their pairs; runs with few pairs stand back while others are there. Ties go to the run
 * with more pairs.
 * @param point operating point whose tau stands beside the strip
 */
export function trajectoryStrips(
  dataset: Dataset,
  rotations: readonly RotationScores[],
  point: string,
): readonly StripRecord[] {
  const runs = rotations.flatMap((scores): readonly RankedRun[] =>
    withinTrajectories(scores.scores, scores.test.labels, scores.test.run).map((one) => ({
      scores,
      run: one.trajectory,
      auroc: one.auroc,
      pairs: one.pairs,
    })),
  )
  const large = runs.filter((one) => one.pairs >= MIN_PAIRS)
  const ranked = (large.length >= 2 * STRIPS_PER_RANK ? large : runs).sort(
    (a, b) => b.auroc - a.auroc || b.pairs - a.pairs,
  )
  const best = ranked.slice(0, Math.min(STRIPS_PER_RANK, Math.ceil(ranked.length / 2)))
  const worst = ranked.slice(best.length).slice(-STRIPS_PER_RANK).reverse()
  return [
    ...best.map((one) => stripOf(dataset, one, { rank: 'best', point })),
    ...worst.map((one) => stripOf(dataset, one, { rank: 'worst', point })),
  ]
}

function stripOf(
  { pairs, trajectories }: Dataset,
  ranked: RankedRun,
  options: { readonly rank: StripRecord['rank']; readonly point: string },
): StripRecord {
  const { test, scores, probabilities, operatingPoints } = ranked.scores
  const rows = Array.from(test.rows.keys()).filter((row) => test.run[row] === ranked.run)
  const pairOf = (row: number): number => test.rows[row] ?? 0
  const interactionsAll = distinct(rows.map((row) => pairs.interaction[pairOf(row)] ?? 0))
  const checkpointsAll = distinct(rows.map((row) => pairs.checkpoint[pairOf(row)] ?? 0))
  const interactions = thin(interactionsAll)
  const checkpoints = thin(checkpointsAll)
  const rowAt = new Map(
    rows.map((row) => [cellKey(pairs.interaction[pairOf(row)] ?? 0, pairs.checkpoint[pairOf(row)] ?? 0), row]),
  )
  const cells = <Value>(read: (row: number) => Value): readonly (readonly (Value | null)[])[] =>
    interactions.map((interaction) =>
      checkpoints.map((checkpoint) => {
        const row = rowAt.get(cellKey(interaction, checkpoint))
        return row === undefined ? null : read(row)
      }),
    )
  const boundaryOf = new Map(rows.map((row) => [pairs.interaction[pairOf(row)], pairs.boundary[pairOf(row)] ?? -1]))
  const run = test.runs[ranked.run]
  const known = trajectories[run?.trajectory ?? -1]
  return {
    rank: options.rank,
    run: known?.id ?? '',
    domain: known?.domain ?? '',
    rotation: test.rotation,
    length: known?.length ?? 0,
    pairs: ranked.pairs,
    withinAuroc: ranked.auroc,
    tau: operatingPoints.find((one) => one.name === options.point)?.tau ?? null,
    interactions,
    checkpoints,
    thinned: interactions.length < interactionsAll.length || checkpoints.length < checkpointsAll.length,
    boundaries: interactions.map((interaction) => {
      const boundary = boundaryOf.get(interaction) ?? -1
      return boundary === -1 ? null : boundary
    }),
    p: cells((row) => Number(((probabilities ?? scores)[row] ?? 0).toFixed(4))),
    labels: cells((row) => (test.labels[row] === 1 ? 1 : 0)),
  }
}

function cellKey(interaction: number, checkpoint: number): string {
  return `${interaction}/${checkpoint}`
}

function distinct(values: readonly number[]): readonly number[] {
  return [...new Set(values)].sort((a, b) => a - b)
}

/** At most STRIP_SIDE values, spread evenly, the first and the last among them. */
function thin(values: readonly number[]): readonly number[] {
  if (values.length <= STRIP_SIDE) return values
  return Array.from(
    { length: STRIP_SIDE },
    (_, i) => values[Math.round((i * (values.length - 1)) / (STRIP_SIDE - 1))] ?? 0,
  )
}
