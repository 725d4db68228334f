/**
 * Names of the graph's inputs and outputs, for whoever feeds it. Shapes: S tokens of this run, P past tokens, M wanted
 * rows, R >= P + S rows of a rotary table of 2F rotated dimensions. A graph declares only what its layers need.
 */
import type { Precision } from './execution.ts'

export const DECODER_NAMES = {
  /** [1, S] i64 */
  tokens: 'tokens',
  /** [M] i64, positions within this run's tokens */
  rows: 'rows',
  /** [1] i32: P + S - 1 */
  lastPosition: 'last_position',
  /** [] i32: P + S */
  totalTokens: 'total_tokens',
  /** [1] i64: P */
  firstPosition: 'first_position',
  /** [S, 1] and [1, T] f32: positions of this run's tokens and of all keys; only where attention is in plain operators */
  queryPositions: 'query_positions',
  keyPositions: 'key_positions',
  /** [1] i64: tokens of this run that states are to stand for; those after them are padding */
  keptTokens: 'kept_tokens',
  /** [M, d] f32 */
  hidden: 'hidden',
} as const

/** Cosines and sines of rotary table `index`: [R, F] f32. */
export function ropeNames(index: number): { readonly cos: string; readonly sin: string } {
  return { cos: `rope_cos_${index}`, sin: `rope_sin_${index}` }
}

/**
 * One tensor of what a layer hands from run to run. `P` in the shape is the dimension that grows with the tokens: a
 * tensor that has it can be cut back to fewer tokens. One without it stands for all kept tokens so far and cannot.
 */
export interface StateTensor {
  readonly past: string
  readonly present: string
  readonly shape: readonly (number | 'P')[]
  readonly dtype: Precision
}

export function stateTensor(
  name: string,
  layer: number,
  { shape, dtype = 'f32' }: { readonly shape: StateTensor['shape']; readonly dtype?: Precision },
): StateTensor {
  return { past: `past_${name}_${layer}`, present: `present_${name}_${layer}`, shape, dtype }
}
