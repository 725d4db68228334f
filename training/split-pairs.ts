/**
 * The pairs of a part, trajectory by trajectory. Pure.
 */
import type { Dataset } from '../data/store/dataset.ts'

/** Pair indices of one trajectory, in table order; never empty. */
export type TrajectoryPairs = readonly number[]

/** Trajectories without a pair are left out. */
export function pairsOfGroups(
  dataset: Pick<Dataset, 'pairs' | 'trajectories'>,
  groups: ReadonlySet<string>,
): readonly TrajectoryPairs[] {
  const lists = new Map<number, number[]>()
  for (let pair = 0; pair < dataset.pairs.count; pair++) {
    const t = dataset.pairs.trajectory[pair] as number
    if (!groups.has(dataset.trajectories[t]?.group ?? '')) continue
    const list = lists.get(t)
    if (list === undefined) lists.set(t, [pair])
    else list.push(pair)
  }
  return [...lists.values()]
}

/**
 * Pairs whose label could see at least `minFuture` later interactions; "no later use" is right-censored near the end of
 * a run (DESIGN section 9). If they do not hold both classes, all pairs.
 */
export function trustedPairs(
  dataset: Pick<Dataset, 'pairs'>,
  trajectories: readonly TrajectoryPairs[],
  minFuture: number,
): readonly TrajectoryPairs[] {
  const trusted = trajectories
    .map((pairs) => pairs.filter((pair) => (dataset.pairs.futureInteractions[pair] as number) >= minFuture))
    .filter((pairs) => pairs.length > 0)
  return hasBothClasses(dataset, trusted) ? trusted : trajectories
}

export function countPositives(dataset: Pick<Dataset, 'pairs'>, trajectories: readonly TrajectoryPairs[]): number {
  return trajectories.flat().reduce((sum, pair) => sum + (dataset.pairs.label[pair] as number), 0)
}

export function hasBothClasses(dataset: Pick<Dataset, 'pairs'>, trajectories: readonly TrajectoryPairs[]): boolean {
  const positives = countPositives(dataset, trajectories)
  return positives > 0 && positives < trajectories.reduce((sum, pairs) => sum + pairs.length, 0)
}
