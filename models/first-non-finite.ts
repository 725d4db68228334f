/** Where weights stop being numbers. A plain loop: a checkpoint has hundreds of millions of them. */

/** @returns index of the first NaN or infinity, null if there is none */
export function firstNonFinite(values: Float32Array): number | null {
  // x - x is 0 for every finite x and NaN otherwise; a sum of them is NaN as soon as one is.
  let sum = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0
    sum += value - value
  }
  return sum === 0 ? null : values.findIndex((value) => !Number.isFinite(value))
}
