/** What is said about repeated measurements: medians, spread, and how a cost grows with its length. Pure. */

export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  readonly count: number
}

/** @returns NaN everywhere for no values */
export function summarise(values: readonly number[]): Summary {
  return {
    median: median(values),
    min: values.length === 0 ? Number.NaN : Math.min(...values),
    max: values.length === 0 ? Number.NaN : Math.max(...values),
    count: values.length,
  }
}

/** Mean of the two middle values where their count is even; NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}

/**
 * Median over rounds of numerator over denominator of the same round: what disturbs a machine for minutes disturbs both.
 * Rounds that only one of the two has are left out.
 */
export function pairedRatio(numerator: readonly number[], denominator: readonly number[]): number {
  const rounds = Math.min(numerator.length, denominator.length)
  return median(Array.from({ length: rounds }, (_, i) => (numerator[i] ?? Number.NaN) / (denominator[i] ?? Number.NaN)))
}

export interface CostPoint {
  readonly tokens: number
  readonly cost: number
}

/** cost(S) = linear * S + quadratic * S^2: a forward pass has tokens and pairs of tokens. */
export interface CostCurve {
  readonly linear: number
  readonly quadratic: number
  /** Largest |fit - measured| / measured over the points. */
  readonly largestError: number
}

/**
 * Least squares of relative errors, so that short histories count as much as long ones. Neither coefficient is negative.
 * @returns null for fewer than two lengths
 */
export function fitCost(points: readonly CostPoint[]): CostCurve | null {
  if (new Set(points.map((point) => point.tokens)).size < 2) return null
  // Unknowns (a, b) of a * x + b * z = 1 with x = S / cost, z = S^2 / cost.
  let xx = 0
  let xz = 0
  let zz = 0
  let x1 = 0
  let z1 = 0
  for (const { tokens, cost } of points) {
    const x = tokens / cost
    const z = tokens ** 2 / cost
    xx += x * x
    xz += x * z
    zz += z * z
    x1 += x
    z1 += z
  }
  const determinant = xx * zz - xz * xz
  let linear = (x1 * zz - z1 * xz) / determinant
  let quadratic = (z1 * xx - x1 * xz) / determinant
  if (quadratic < 0) [linear, quadratic] = [x1 / xx, 0]
  if (linear < 0) [linear, quadratic] = [0, z1 / zz]
  const errors = points.map(({ tokens, cost }) => Math.abs(costAt({ linear, quadratic }, tokens) - cost) / cost)
  return { linear, quadratic, largestError: Math.max(...errors) }
}

export function costAt(curve: Pick<CostCurve, 'linear' | 'quadratic'>, tokens: number): number {
  return curve.linear * tokens + curve.quadratic * tokens ** 2
}
