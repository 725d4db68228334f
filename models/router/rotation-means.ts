/**
 * Metrics of a router's rotations in a few numbers. Pure.
 */
import type { MeanAndSpread, RotationMeans, RotationSummary } from './manifest.ts'
import { INPUT_KINDS } from './spec.ts'

/** Two entries for each input kind that has rotations: its validation parts, its test parts. */
export function rotationMeans(rotations: readonly RotationSummary[]): readonly RotationMeans[] {
  return INPUT_KINDS.filter((kind) => rotations.some((rotation) => rotation.inputs === kind)).flatMap((inputs) =>
    (['validation', 'test'] as const).map((split) => {
      const own = rotations.filter((rotation) => rotation.inputs === inputs).map((rotation) => rotation[split])
      return {
        inputs,
        split,
        withinAuroc: meanAndSpread(own.map((metrics) => metrics.withinAuroc)),
        prAuc: meanAndSpread(own.map((metrics) => metrics.prAuc)),
      }
    }),
  )
}

/** Values that are null are left out; null if none is left. */
export function meanAndSpread(values: readonly (number | null)[]): MeanAndSpread | null {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return null
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return {
    mean,
    standardDeviation: known.length < 2 ? null : Math.sqrt(squares / (known.length - 1)),
    rotations: known.length,
  }
}
