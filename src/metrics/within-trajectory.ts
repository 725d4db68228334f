/**
 * Metrics inside each trajectory, the headline of DESIGN section 13: prevalence differs fivefold between domains, so a
 * score that only recognises the domain looks good when pairs of many trajectories are ranked together. Pure.
 */
import { auroc } from './auroc.ts'
import { averagePrecision } from './average-precision.ts'
import { requireSameLength } from './ranking.ts'

export interface TrajectoryMetrics {
  /** Number in the `trajectory` column. */
  readonly trajectory: number
  readonly pairs: number
  readonly prevalence: number
  /** Never null: trajectories of one class are left out. */
  readonly auroc: number
  readonly averagePrecision: number
}

/**
 * One entry per trajectory that holds both classes, in order of first appearance.
 *   scores, labels, trajectory  (n) columns; rows of a trajectory need not be adjacent
 */
export function withinTrajectories(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  trajectory: ArrayLike<number>,
): readonly TrajectoryMetrics[] {
  requireSameLength('withinTrajectories', scores.length, { labels: labels.length, trajectory: trajectory.length })
  const rowsOf = new Map<number, number[]>()
  for (let i = 0; i < scores.length; i++) {
    const id = trajectory[i] ?? 0
    const rows = rowsOf.get(id)
    if (rows === undefined) rowsOf.set(id, [i])
    else rows.push(i)
  }
  const out: TrajectoryMetrics[] = []
  for (const [id, rows] of rowsOf) {
    const ownScores = rows.map((row) => scores[row] ?? 0)
    const ownLabels = rows.map((row) => labels[row] ?? 0)
    const area = auroc(ownScores, ownLabels)
    const precision = averagePrecision(ownScores, ownLabels)
    if (area === null || precision === null) continue
    const positives = ownLabels.reduce((sum, label) => sum + label, 0)
    out.push({
      trajectory: id,
      pairs: rows.length,
      prevalence: positives / rows.length,
      auroc: area,
      averagePrecision: precision,
    })
  }
  return out
}

/** Mean over trajectories with both classes, each counting once; null when there is none. */
export function withinTrajectoryAuroc(
  scores: ArrayLike<number>,
  labels: ArrayLike<number>,
  trajectory: ArrayLike<number>,
): number | null {
  const metrics = withinTrajectories(scores, labels, trajectory)
  return metrics.length === 0 ? null : metrics.reduce((sum, one) => sum + one.auroc, 0) / metrics.length
}
