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

interface MappedRouter {
  readonly spec: RouterSpec
  readonly parameters: RouterParameters
  readonly standardisation: Standardisation
}

/**
 * The same router for raw inputs: W' = W / std rounded to f32, and b' = b - sum_k mean_k W'_k in b1 (b2 for width 0).
 * The bias is summed in f64 from the rounded weights, so that inputs at their mean meet no rounding of W'.
 */
export function foldStandardisation(router: MappedRouter): RouterParameters {
  return mapFirstLayer(router, {
    weight: (weight, std) => weight / std,
    biasShift: (mean, _, folded) => -mean * folded,
  })
}

/**
 * The inverse of `foldStandardisation` with the same map: parameters for standardised inputs from those for raw ones.
 * Each weight comes back to within one rounding of f32 of what was folded.
 */
export function unfoldStandardisation(router: MappedRouter): RouterParameters {
  return mapFirstLayer(router, {
    weight: (folded, std) => folded * std,
    biasShift: (mean, folded) => mean * folded,
  })
}

/** Each weight of the first layer by itself, and what it adds to the bias, given the weight before and after (f32). */
function mapFirstLayer(
  { spec, parameters, standardisation }: MappedRouter,
  map: {
    readonly weight: (before: number, std: number) => number
    readonly biasShift: (mean: number, before: number, after: number) => number
  },
): RouterParameters {
  const columns = firstLayerColumns(spec)
  const biasName = spec.width === 0 ? 'b2' : 'b1'
  const bias = Float64Array.from(tensorOf(parameters, biasName))
  const mapped = new Map<string, Float32Array>()
  for (const block of blocksOf(spec)) {
    const { mean, std } = invariant(standardisation[block], `standardisation holds block ${block}`)
    const weights = tensorOf(parameters, `weights.${block}`)
    const out = new Float32Array(weights.length)
    for (let k = 0; k < mean.length; k++)
      for (let j = 0; j < columns; j++) {
        const at = k * columns + j
        const before = weights[at] as number
        out[at] = map.weight(before, std[k] as number)
        bias[j] = (bias[j] as number) + map.biasShift(mean[k] as number, before, out[at] as number)
      }
    mapped.set(`weights.${block}`, out)
  }
  mapped.set(biasName, Float32Array.from(bias))
  return buildParameters(
    spec,
    (tensor) => mapped.get(tensor.name) ?? Float32Array.from(tensorOf(parameters, tensor.name)),
  )
}
