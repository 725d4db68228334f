/**
 * The Top-k mean m: the mean of the k vectors of a checkpoint's pool most similar to each target. Pure.
 * One code for extraction (which stores the neighbours), training and serving. Letters: src/tensor/README.md.
 */
import { createMatrix, type Matrix } from '../tensor/matrix.ts'

/** Top-k of the paper (StateComp E.1, "same-prefix Top4"). */
export const DEFAULT_TOP_K = 4

/**
 * Cosine similarities of every pair of rows.
 *   vectors  (N, d) f32
 *   returns  (N, N) f64 row-major, symmetric; a zero vector has similarity 0 to everything
 */
export function cosineSimilarities(vectors: Matrix): Float64Array {
  const { data, rows, cols } = vectors
  const dots = new Float64Array(rows * rows)
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j <= i; j++) {
      let dot = 0
      for (let k = 0, a = i * cols, b = j * cols; k < cols; k++)
        dot += (data[a + k] as number) * (data[b + k] as number)
      dots[i * rows + j] = dot
    }
  }
  const norms = Float64Array.from({ length: rows }, (_, i) => Math.sqrt(at(dots, i * rows + i)))
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j <= i; j++) {
      const scale = at(norms, i) * at(norms, j)
      const cosine = scale > 0 ? at(dots, i * rows + j) / scale : 0
      dots[i * rows + j] = cosine
      dots[j * rows + i] = cosine
    }
  }
  return dots
}

/**
 * The k most similar rows of each row, most similar first, ties to the lower index.
 *   similarities  (stride, stride) f64 of `cosineSimilarities`
 *   count         N <= stride: only the first N rows are the pool, so that one matrix serves all checkpoints of a run
 *   returns       (N, k) row indices; i itself is excluded; -1 fills up where the pool has fewer
 */
export function neighboursFrom(options: {
  readonly similarities: Float64Array
  readonly stride: number
  readonly count: number
  readonly k: number
}): Int32Array {
  const { similarities, stride, count, k } = options
  const out = new Int32Array(count * k).fill(-1)
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < count; j++) {
      if (j === i) continue
      const similarity = at(similarities, i * stride + j)
      let slot = k
      while (slot > 0) {
        const held = at(out, i * k + slot - 1)
        if (held !== -1 && at(similarities, i * stride + held) >= similarity) break
        slot -= 1
      }
      if (slot === k) continue
      out.copyWithin(i * k + slot + 1, i * k + slot, i * k + k - 1)
      out[i * k + slot] = j
    }
  }
  return out
}

/**
 * Neighbours of each target among the pool of the same checkpoint.
 *   vectors  (N, d) f32 as stored (rounded to the storage dtype): the pool and the targets are the same rows
 *   returns  (N, k) indices into the pool, see `neighboursFrom`
 * Source: DESIGN section 8; similarities accumulate in f64.
 */
export function topNeighbours(options: { readonly vectors: Matrix; readonly k: number }): Int32Array {
  const { vectors, k } = options
  return neighboursFrom({ similarities: cosineSimilarities(vectors), stride: vectors.rows, count: vectors.rows, k })
}

/**
 * Mean of each target's neighbours.
 *   vectors     (N, d) f32, the pool
 *   neighbours  (M, k) indices into the pool, -1 = none
 *   returns     (M, d) f32; a row without neighbours is 0; sums accumulate in f64
 */
export function topMean(options: {
  readonly vectors: Matrix
  readonly neighbours: Int32Array
  readonly k: number
}): Matrix {
  const { vectors, neighbours, k } = options
  const d = vectors.cols
  const out = createMatrix(neighbours.length / k, d)
  const sum = new Float64Array(d)
  for (let i = 0; i < out.rows; i++) {
    sum.fill(0)
    let count = 0
    for (let slot = 0; slot < k; slot++) {
      const j = at(neighbours, i * k + slot)
      if (j < 0) continue
      count += 1
      for (let dim = 0; dim < d; dim++) sum[dim] = (sum[dim] as number) + (vectors.data[j * d + dim] as number)
    }
    if (count === 0) continue
    for (let dim = 0; dim < d; dim++) out.data[i * d + dim] = at(sum, dim) / count
  }
  return out
}

/** Element i of an array that is long enough by construction. */
function at(values: ArrayLike<number>, i: number): number {
  return values[i] as number
}
