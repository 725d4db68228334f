/**
 * Shape and structure of a made dataset: what a trainer can find in it, what it can only learn by heart, and how much of
 * it there is.
 */
import type { StorageDtype } from '../../models/frozen-lm/representation.ts'

export interface SyntheticSpec {
  readonly seed: number
  /** Each is a group of its own. */
  readonly trajectories: number
  /** N of the runs, in turn. A run of N interactions has (N - 1)(N - 2) / 2 pairs. */
  readonly lengths: readonly number[]
  /** d */
  readonly hiddenSize: number
  readonly storageDtype: StorageDtype
  /** `once`: one h per interaction; `shared-first`: one h per pair. */
  readonly recipe: 'once' | 'shared-first'
  /** Dimensions of the latents whose product decides labels. */
  readonly latents: number
  /** Weight in a pair's score of u_i . v_c, which stands in h and q the same way in every run. */
  readonly signal: number
  /** Weight of what belongs to the run or the interaction alone: nothing carries it from one group to another. */
  readonly memorable: number
  /** Weight of noise. */
  readonly noise: number
  /** Length of a run's own offset in every dimension of its vectors, beside noise of deviation 1. */
  readonly offset: number
  /** Share of READY pairs. */
  readonly prevalence: number
}

/**
 * The paper's amount of data: 300 trajectories, 244,320 pairs (paper: 244,526), 6.4 % READY, inputs of 3 x 4,096. Vectors
 * take 0.2 GB with recipe once and 2.0 GB with shared-first.
 */
export const PAPER_SIZE: SyntheticSpec = {
  seed: 1,
  trajectories: 300,
  lengths: [33, 37, 41, 46, 50],
  hiddenSize: 4096,
  storageDtype: 'f16',
  recipe: 'once',
  latents: 8,
  signal: 1,
  memorable: 0.3,
  noise: 0.3,
  offset: 2,
  prevalence: 0.064,
}

export function syntheticPairCount({ trajectories, lengths }: Pick<SyntheticSpec, 'trajectories' | 'lengths'>): number {
  return Array.from({ length: trajectories }, (_, t) => pairsOfLength(lengthAt(lengths, t))).reduce((a, b) => a + b, 0)
}

export function lengthAt(lengths: readonly number[], trajectory: number): number {
  return lengths[trajectory % lengths.length] ?? 0
}

/** Checkpoints c = 2 .. N - 1 with targets 0 .. c - 2. */
export function pairsOfLength(length: number): number {
  return ((length - 1) * (length - 2)) / 2
}
