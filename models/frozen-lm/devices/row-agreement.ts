/** How far rows of hidden states are from those that they should be, each row for itself. */

export interface RowAgreement {
  /** Largest max |a - b| / max |b| of a row; Infinity where anything is not finite. */
  readonly worst: number
  readonly worstRow: number
  /** Median of the rows' errors. */
  readonly typical: number
  readonly lowestCosine: number
}

/** @param pair (rows, cols) each; another length than `expected` counts as infinitely far */
export function compareRows(pair: {
  readonly actual: Float32Array
  readonly expected: Float32Array
  readonly cols: number
}): RowAgreement {
  const { actual, expected, cols } = pair
  const errors: number[] = []
  let lowestCosine = 1
  for (let start = 0; start < expected.length; start += cols) {
    const [a, b] = [actual.subarray(start, start + cols), expected.subarray(start, start + cols)]
    errors.push(rowError(a, b))
    lowestCosine = Math.min(lowestCosine, cosine(a, b))
  }
  const worst = errors.reduce((a, b) => Math.max(a, b), 0)
  const sorted = errors.toSorted((a, b) => a - b)
  return { worst, worstRow: errors.indexOf(worst), typical: sorted[Math.floor(sorted.length / 2)] ?? 0, lowestCosine }
}

function rowError(actual: Float32Array, expected: Float32Array): number {
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY
  let difference = 0
  let scale = 0
  for (let i = 0; i < expected.length; i++) {
    const value = actual[i] ?? Number.NaN
    if (!Number.isFinite(value)) return Number.POSITIVE_INFINITY
    difference = Math.max(difference, Math.abs(value - (expected[i] ?? 0)))
    scale = Math.max(scale, Math.abs(expected[i] ?? 0))
  }
  return difference / scale
}

/** -1 where a row is not finite. */
function cosine(actual: Float32Array, expected: Float32Array): number {
  let product = 0
  let a = 0
  let b = 0
  for (let i = 0; i < expected.length; i++) {
    product += (actual[i] ?? 0) * (expected[i] ?? 0)
    a += (actual[i] ?? 0) ** 2
    b += (expected[i] ?? 0) ** 2
  }
  const value = product / Math.sqrt(a * b)
  return Number.isFinite(value) ? value : -1
}
