/**
 * Rows that are sums of vectors from shared tables, as the logistic solver needs them: X[r] = [U_1[rows of r] ; U_2[...]].
 * A product with X costs one product with each table (a few thousand vectors) and a sum per pair, instead of one wide
 * vector per pair. Pure.
 */
import { type DesignMatrix, denseMatrix } from './design-matrix.ts'

export interface FactorBlock {
  /** (vectors, cols) row-major. */
  readonly vectors: Float32Array
  readonly cols: number
  /** Row r of X uses the mean of vectors uses[starts[r]] .. uses[starts[r + 1]]. */
  readonly starts: Uint32Array
  readonly uses: Uint32Array
}

export function factorisedMatrix(rows: number, blocks: readonly FactorBlock[]): DesignMatrix {
  let width = 0
  const parts = blocks.map((block) => {
    const offset = width
    width += block.cols
    const count = block.vectors.length / block.cols
    return {
      ...block,
      offset,
      table: denseMatrix(block.vectors, count, block.cols),
      products: new Float64Array(count),
    }
  })
  return {
    rows,
    cols: width,
    multiply(weights, intercept, out) {
      out.fill(intercept, 0, rows)
      for (const { table, products, offset, cols, starts, uses } of parts) {
        table.multiply(weights.subarray(offset, offset + cols), 0, products)
        for (let r = 0; r < rows; r++) {
          const [from, to] = [starts[r] ?? 0, starts[r + 1] ?? 0]
          let sum = 0
          for (let at = from; at < to; at++) sum += products[uses[at] ?? 0] ?? 0
          if (to > from) out[r] = (out[r] ?? 0) + sum / (to - from)
        }
      }
    },
    addTransposed(residual, gradient) {
      for (const { table, products, offset, cols, starts, uses } of parts) {
        products.fill(0)
        for (let r = 0; r < rows; r++) {
          const [from, to] = [starts[r] ?? 0, starts[r + 1] ?? 0]
          const share = (residual[r] ?? 0) / Math.max(1, to - from)
          for (let at = from; at < to; at++) {
            const use = uses[at] ?? 0
            products[use] = (products[use] ?? 0) + share
          }
        }
        table.addTransposed(products, gradient.subarray(offset, offset + cols))
      }
    },
  }
}
