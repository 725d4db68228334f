import { describe, expect, it } from 'vitest'
import { denseMatrix } from '../../../../training/baselines/design-matrix.ts'
import { factorisedMatrix } from '../../../../training/baselines/factorised-matrix.ts'

const first = [
  [1, 2],
  [3, -1],
]
const second = [
  [0.5, 0, 1],
  [2, -2, 4],
  [-1, 1, 8],
]
const rows = [
  { a: 1, b: [0, 2] },
  { a: 0, b: [1] },
  { a: 1, b: [2, 1, 0] },
]
const wide = rows.map(({ a, b }) => [
  ...(first[a] ?? []),
  ...[0, 1, 2].map((k) => b.reduce((sum, row) => sum + (second[row]?.[k] ?? 0), 0) / b.length),
])
const matrix = factorisedMatrix(rows.length, [
  {
    vectors: Float32Array.from(first.flat()),
    cols: 2,
    starts: Uint32Array.from([0, 1, 2, 3]),
    uses: Uint32Array.from([1, 0, 1]),
  },
  {
    vectors: Float32Array.from(second.flat()),
    cols: 3,
    starts: Uint32Array.from([0, 2, 3, 6]),
    uses: Uint32Array.from([0, 2, 1, 2, 1, 0]),
  },
])
const dense = denseMatrix(Float64Array.from(wide.flat()), rows.length, 5)

describe('a factorised matrix', () => {
  it('has the products of the wide rows that it stands for', () => {
    const weights = Float64Array.from([0.3, -1, 2, 0.25, -0.5])
    const [out, expected] = [new Float64Array(3), new Float64Array(3)]
    matrix.multiply(weights, 0.7, out)
    dense.multiply(weights, 0.7, expected)
    out.forEach((value, r) => {
      expect(value).toBeCloseTo(expected[r] ?? 0, 12)
    })
    expect(matrix).toMatchObject({ rows: 3, cols: 5 })
  })

  it('adds the transposed product to what stands there', () => {
    const residual = Float64Array.from([1, -0.5, 2])
    const [out, expected] = [new Float64Array(5).fill(0.1), new Float64Array(5).fill(0.1)]
    matrix.addTransposed(residual, out)
    dense.addTransposed(residual, expected)
    out.forEach((value, c) => {
      expect(value).toBeCloseTo(expected[c] ?? 0, 12)
    })
  })
})
