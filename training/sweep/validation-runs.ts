/**
 * The AUROC inside each validation run: enough to draw groups again later, without the predictions.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import type { PairPredictions } from '../../models/router/manifest.ts'
import { withinTrajectories } from '../../src/metrics/within-trajectory.ts'

/** @returns number of the trajectory and its AUROC, for those that hold both classes; their mean is the choice's metric */
export function validationRuns(
  { pairs }: Pick<Dataset, 'pairs'>,
  predictions: PairPredictions,
): [trajectory: number, auroc: number][] {
  const column = (values: ArrayLike<number>): number[] => predictions.pairs.map((pair) => values[pair] ?? -1)
  return withinTrajectories(predictions.logits, column(pairs.label), column(pairs.trajectory)).map(
    ({ trajectory, auroc }) => [trajectory, auroc],
  )
}
