import { test } from '@fast-check/vitest'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cosineSimilarities, neighboursFrom, topMean, topNeighbours } from '../../../src/router/top-mean.ts'
import { type Matrix, matrixFromRows } from '../../../src/tensor/matrix.ts'

const row = (matrix: Matrix, i: number): number[] => [...matrix.data.subarray(i * matrix.cols, (i + 1) * matrix.cols)]

/** Textbook version: sort all others by similarity, then by index. */
function naiveNeighbours(rows: readonly (readonly number[])[], k: number): number[][] {
  const norm = (a: readonly number[]): number => Math.sqrt(a.reduce((s, x) => s + x * x, 0))
  const cosine = (a: readonly number[], b: readonly number[]): number => {
    const scale = norm(a) * norm(b)
    return scale === 0 ? 0 : a.reduce((s, x, j) => s + x * (b[j] ?? 0), 0) / scale
  }
  return rows.map((a, i) => {
    const others = rows
      .map((b, j) => ({ j, similarity: cosine(a, b) }))
      .filter((other) => other.j !== i)
      .sort((left, right) => right.similarity - left.similarity || left.j - right.j)
      .slice(0, k)
      .map((other) => other.j)
    return [...others, ...Array<number>(k - others.length).fill(-1)]
  })
}

describe('topNeighbours', () => {
  it('finds the most cosine-similar rows whatever their length, without the row itself', () => {
    const vectors = matrixFromRows(
      [
        [1, 0],
        [100, 1],
        [0, 1],
        [1, 1],
      ],
      2,
    )
    expect([...topNeighbours({ vectors, k: 2 })]).toEqual([1, 3, 0, 3, 3, 1, 1, 0])
  })

  it('gives ties to the lower index and fills up with -1', () => {
    const vectors = matrixFromRows([[1], [2], [3]], 1)
    expect([...topNeighbours({ vectors, k: 4 })]).toEqual([1, 2, -1, -1, 0, 2, -1, -1, 0, 1, -1, -1])
  })

  it('treats a zero vector as similar to nothing', () => {
    const vectors = matrixFromRows(
      [
        [0, 0],
        [-1, 0],
        [1, 0],
      ],
      2,
    )
    expect([...topNeighbours({ vectors, k: 1 })]).toEqual([1, 0, 0])
  })

  it('serves every checkpoint of a run from one similarity matrix', () => {
    const rows = [
      [1, 2],
      [2, 1],
      [1, 1],
      [3, -1],
      [0, 2],
    ]
    const similarities = cosineSimilarities(matrixFromRows(rows, 2))
    for (let count = 0; count <= 5; count++) {
      const own = topNeighbours({ vectors: matrixFromRows(rows.slice(0, count), 2), k: 3 })
      expect(neighboursFrom({ similarities, stride: 5, count, k: 3 })).toEqual(own)
    }
  })

  test.prop([
    fc.array(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 3, maxLength: 3 }), { maxLength: 9 }),
    fc.integer({ min: 1, max: 5 }),
  ])('equals sorting all others', (rows, k) => {
    const vectors = matrixFromRows(rows, 3)
    expect([...topNeighbours({ vectors, k })]).toEqual(naiveNeighbours(rows, k).flat())
  })
})

describe('topMean', () => {
  it('averages the neighbours that exist and is zero where none does', () => {
    const vectors = matrixFromRows(
      [
        [2, 4],
        [6, 8],
      ],
      2,
    )
    const means = topMean({ vectors, neighbours: Int32Array.of(0, 1, 1, -1, -1, -1), k: 2 })
    expect(means.rows).toBe(3)
    expect([row(means, 0), row(means, 1), row(means, 2)]).toEqual([
      [4, 6],
      [6, 8],
      [0, 0],
    ])
  })
})
