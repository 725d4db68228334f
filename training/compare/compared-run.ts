/** One evaluated run as a comparison needs it: a dataset, and what a router trained on it says of its held-out pairs. */
import type { Part } from '../../data/rotations.ts'
import type { Dataset } from '../../data/store/dataset.ts'
import type { InputKind } from '../../models/router/spec.ts'
import type { HeldOutPredictions } from '../evaluation/held-out-predictions.ts'

export interface ComparedRun {
  /** Unique in the comparison. */
  readonly name: string
  readonly dataset: Dataset
  readonly router: string
  readonly parts: ReadonlyMap<string, Part>
  readonly predictions: readonly HeldOutPredictions[]
  /** The one kind to compare; null: every kind that all runs have. */
  readonly inputs: InputKind | null
  readonly settings: Readonly<Record<string, string>>
}
