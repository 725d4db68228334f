/**
 * What a baseline is: fitted on the training groups of a rotation, then asked for scores of any pairs.
 * It sees labels and text of training rows only; validation rows serve to choose a penalty, test rows only to be scored.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import type { ObservationCorpus } from './observation-corpus.ts'

export const BASELINE_NAMES = [
  'random',
  'domain',
  'age',
  'position',
  'source-length',
  'age-position-length-lr',
  'observation-tfidf-lr',
  'h-only',
  'q-only',
  'hq-only',
  'hqm-lr',
] as const
export type BaselineName = (typeof BASELINE_NAMES)[number]

export interface BaselineContext {
  readonly dataset: Dataset
  readonly corpus: ObservationCorpus
  /** Pair numbers of the rotation's training and validation groups. */
  readonly train: Int32Array
  readonly validation: Int32Array
  readonly seed: number
}

/** (rows) scores, higher = more likely READY. */
export type PairScorer = (rows: Int32Array) => Float64Array

export interface Baseline {
  readonly name: BaselineName
  /** One line for the report: what it knows. */
  readonly description: string
  /** Scores are probabilities, so that calibration means something. */
  readonly probabilistic: boolean
  readonly fit: (context: BaselineContext) => PairScorer
}

/** (rows) 1 / pairs of the row's trajectory among `rows`: every trajectory weighs the same (DESIGN section 8). */
export function trajectoryWeights(dataset: Dataset, rows: Int32Array): Float64Array {
  const counts = new Map<number, number>()
  for (const row of rows) {
    const trajectory = dataset.pairs.trajectory[row] ?? 0
    counts.set(trajectory, (counts.get(trajectory) ?? 0) + 1)
  }
  return Float64Array.from(rows, (row) => 1 / (counts.get(dataset.pairs.trajectory[row] ?? 0) ?? 1))
}
