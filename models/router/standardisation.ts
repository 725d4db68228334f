/**
 * Per-dimension affine maps of the router's inputs, and folding them into the first layer.
 * After folding a router takes raw h, q, m and x: the server knows nothing of standardisation.
 */
import { invariant } from '../../src/errors.ts'
import { blocksOf, buildParameters, firstLayerColumns, tensorOf } from './parameters.ts'
import type { BlockName, RouterParameters, RouterSpec } from './spec.ts'

/** value -> (value - mean) / std, per dimension; std > 0. */
export interface BlockStandardisation {
  readonly mean: Float64Array
  readonly std: Float64Array
}

export type Standardisation = Readonly<Partial<Record<BlockName, BlockStandardisation>>>

/**
 * The same router for raw inputs: W' = W / std rounded to f32, and b' = b - sum_k mean_k W'_k in b1 (b2 for width 0).
 * The bias is summed in f64 from the rounded weights, so that inputs at their mean meet no rounding of W'.
 */
export function foldStandardisation(options: {
  readonly spec: RouterSpec
  readonly parameters: RouterParameters
  readonly standardisation: Standardisation
}): RouterParameters {
  const { spec, parameters, standardisation } = options
  const columns = firstLayerColumns(spec)
  const biasName = spec.width === 0 ? 'b2' : 'b1'
  const bias = Float64Array.from(tensorOf(parameters, biasName))
  const folded = new Map<string, Float32Array>()
  for (const block of blocksOf(spec)) {
    const { mean, std } = invariant(standardisation[block], `standardisation holds block ${block}`)
    const weights = tensorOf(parameters, `weights.${block}`)
    const out = new Float32Array(weights.length)
    for (let k = 0; k < mean.length; k++) {
      const centre = mean[k] as number
      for (let j = 0; j < columns; j++) {
        out[k * columns + j] = (weights[k * columns + j] as number) / (std[k] as number)
        bias[j] = (bias[j] as number) - centre * (out[k * columns + j] as number)
      }
    }
    folded.set(`weights.${block}`, out)
  }
  folded.set(biasName, Float32Array.from(bias))
  return buildParameters(
    spec,
    (tensor) => folded.get(tensor.name) ?? Float32Array.from(tensorOf(parameters, tensor.name)),
  )
}

/**
 * The inverse of `foldStandardisation` with the same map: parameters for standardised inputs from those for raw ones.
 * Each weight comes back to within one rounding of f32 of what was folded.
 */
export function unfoldStandardisation(options: {
  readonly spec: RouterSpec
  readonly parameters: RouterParameters
  readonly standardisation: Standardisation
}): RouterParameters {
  const { spec, parameters, standardisation } = options
  const columns = firstLayerColumns(spec)
  const biasName = spec.width === 0 ? 'b2' : 'b1'
  const bias = Float64Array.from(tensorOf(parameters, biasName))
  const unfolded = new Map<string, Float32Array>()
  for (const block of blocksOf(spec)) {
    const { mean, std } = invariant(standardisation[block], `standardisation holds block ${block}`)
    const weights = tensorOf(parameters, `weights.${block}`)
    const out = new Float32Array(weights.length)
    for (let k = 0; k < mean.length; k++)
      for (let j = 0; j < columns; j++) {
        const folded = weights[k * columns + j] as number
        out[k * columns + j] = folded * (std[k] as number)
        bias[j] = (bias[j] as number) + (mean[k] as number) * folded
      }
    unfolded.set(`weights.${block}`, out)
  }
  unfolded.set(biasName, Float32Array.from(bias))
  return buildParameters(
    spec,
    (tensor) => unfolded.get(tensor.name) ?? Float32Array.from(tensorOf(parameters, tensor.name)),
  )
}
