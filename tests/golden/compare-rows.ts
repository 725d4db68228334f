/**
 * Golden comparison of hidden states, one row at a time: max |a - b| / max |b| of that row. One figure for a whole
 * matrix would hide everything behind row 0, whose massive activation is 200 times larger than the rest.
 */
import { expect } from 'vitest'

/**
 * Reference and runtime are both float32 with different summation orders: measured 2e-7 .. 7e-6 over tiny, SmolLM2 and
 * the model families; the bound is the issue's.
 */
const ROW_TOLERANCE = 2e-5

const HINT =
  'HINT: wrong in every row = weights, norm or activation; right in row 0 only = rope or attention; right up to ' +
  'short lengths only = rope table precision; wrong only at one layer = the layer convention (before the final norm)'

/** @returns max |a - b| / max |b|, Infinity if anything is not finite or lengths differ */
export function rowError(actual: Float32Array, golden: Float32Array): number {
  if (actual.length !== golden.length || golden.length === 0) return Number.POSITIVE_INFINITY
  let difference = 0
  let scale = 0
  for (let i = 0; i < golden.length; i++) {
    const a = actual[i] ?? Number.NaN
    const b = golden[i] ?? Number.NaN
    if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.POSITIVE_INFINITY
    difference = Math.max(difference, Math.abs(a - b))
    scale = Math.max(scale, Math.abs(b))
  }
  return scale === 0 ? (difference === 0 ? 0 : Number.POSITIVE_INFINITY) : difference / scale
}

/**
 * @param actual (rows, cols) row-major, as golden
 * @returns the largest row error, for reports
 */
export function expectRowsEqual(compared: {
  readonly what: string
  readonly actual: Float32Array
  readonly golden: Float32Array
  readonly cols: number
}): number {
  const { what, actual, golden, cols } = compared
  expect(actual.length, `${what}: number of values`).toBe(golden.length)
  let worst = 0
  for (let start = 0; start < golden.length; start += cols) {
    const error = rowError(actual.subarray(start, start + cols), golden.subarray(start, start + cols))
    expect(error, `${what}, row ${start / cols}. ${HINT}`).toBeLessThanOrEqual(ROW_TOLERANCE)
    worst = Math.max(worst, error)
  }
  return worst
}
