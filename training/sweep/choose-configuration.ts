/**
 * Which configuration one rotation prefers, by its own validation part. Pure.
 */
import type { SplitMetrics } from '../../models/router/manifest.ts'

/** What one configuration reached on one rotation's validation part; null: it gave no router (its loss diverged). */
export type ValidationScore = Pick<SplitMetrics, 'withinAuroc' | 'prAuc'> | null

/**
 * @param scores one per configuration, in their order
 * @returns the number of the configuration with the highest within-trajectory AUROC (PR-AUC where no validation run holds
 *   both classes); ties go to the earlier one. Null if no configuration gave a router
 */
export function chooseConfiguration(scores: readonly ValidationScore[]): number | null {
  const known = scores.filter((score) => score !== null)
  const metric = known.every((score) => score.withinAuroc === null) ? 'prAuc' : 'withinAuroc'
  let best: number | null = null
  let bestValue = Number.NEGATIVE_INFINITY
  scores.forEach((score, number) => {
    if (score === null) return
    const value = score[metric] ?? 0
    if (value <= bestValue) return
    best = number
    bestValue = value
  })
  return best
}
