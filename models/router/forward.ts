/**
 * The router's forward pass in plain loops and float64: the oracle that every other implementation is tested against.
 */
import { invariant } from '../../src/errors.ts'
import { blocksOf, firstLayerColumns } from './parameters.ts'
import { type BlockName, blockSize, type RouterSpec } from './spec.ts'

/** RouterParameters with any number type, so that the oracle also runs on float64. */
export interface NumericParameters {
  readonly weights: Readonly<Partial<Record<BlockName, ArrayLike<number>>>>
  readonly b1: ArrayLike<number>
  readonly w2: ArrayLike<number>
  readonly b2: ArrayLike<number>
}

/** One pair: a vector per block of the spec. */
export type PairInputs = Readonly<Partial<Record<BlockName, ArrayLike<number>>>>

/**
 * Pre-activations z of one pair.
 *   returns  (H) f64, or (1) for width 0 (b1 is not there)
 */
export function preActivations(spec: RouterSpec, parameters: NumericParameters, inputs: PairInputs): Float64Array {
  const columns = firstLayerColumns(spec)
  const z = new Float64Array(columns)
  if (spec.width > 0) for (let j = 0; j < columns; j++) z[j] = parameters.b1[j] as number
  for (const block of blocksOf(spec)) {
    const weights = invariant(parameters.weights[block], `parameters hold block ${block}`)
    const values = invariant(inputs[block], `a pair holds block ${block}`)
    for (let k = 0; k < blockSize(spec, block); k++) {
      const value = values[k] as number
      for (let j = 0; j < columns; j++) z[j] = (z[j] as number) + value * (weights[k * columns + j] as number)
    }
  }
  return z
}

/** logit of one pair in float64, without dropout. */
export function forwardLogit(spec: RouterSpec, parameters: NumericParameters, inputs: PairInputs): number {
  const z = preActivations(spec, parameters, inputs)
  let logit = parameters.b2[0] as number
  if (spec.width === 0) return logit + (z[0] as number)
  for (let j = 0; j < spec.width; j++) logit += Math.max(0, z[j] as number) * (parameters.w2[j] as number)
  return logit
}
