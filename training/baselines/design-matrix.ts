/**
 * Rows of features as the logistic solver needs them: dense (vectors, a few numbers) or sparse (text). Pure.
 */

export interface DesignMatrix {
  readonly rows: number
  readonly cols: number
  /** out[r] = sum over c of X[r, c] * weights[c] + intercept */
  multiply(weights: Float64Array, intercept: number, out: Float64Array): void
  /** gradient[c] += sum over r of X[r, c] * residual[r], c < cols */
  addTransposed(residual: Float64Array, gradient: Float64Array): void
}

/** @param data (rows, cols) row-major */
export function denseMatrix(data: Float32Array | Float64Array, rows: number, cols: number): DesignMatrix {
  return {
    rows,
    cols,
    multiply(weights, intercept, out) {
      for (let r = 0, at = 0; r < rows; r++) {
        let sum = intercept
        for (let c = 0; c < cols; c++, at++) sum += (data[at] ?? 0) * (weights[c] ?? 0)
        out[r] = sum
      }
    },
    addTransposed(residual, gradient) {
      for (let r = 0, at = 0; r < rows; r++) {
        const scale = residual[r] ?? 0
        for (let c = 0; c < cols; c++, at++) gradient[c] = (gradient[c] ?? 0) + scale * (data[at] ?? 0)
      }
    },
  }
}

/** Compressed sparse rows: entries of row r stand at [starts[r], starts[r + 1]). */
export interface SparseRows {
  readonly starts: Uint32Array
  readonly columns: Uint32Array
  readonly values: Float64Array
  readonly cols: number
}

export function sparseMatrix({ starts, columns, values, cols }: SparseRows): DesignMatrix {
  const rows = starts.length - 1
  return {
    rows,
    cols,
    multiply(weights, intercept, out) {
      for (let r = 0; r < rows; r++) {
        const end = starts[r + 1] ?? 0
        let sum = intercept
        for (let at = starts[r] ?? 0; at < end; at++) sum += (values[at] ?? 0) * (weights[columns[at] ?? 0] ?? 0)
        out[r] = sum
      }
    },
    addTransposed(residual, gradient) {
      for (let r = 0; r < rows; r++) {
        const end = starts[r + 1] ?? 0
        const scale = residual[r] ?? 0
        for (let at = starts[r] ?? 0; at < end; at++) {
          const column = columns[at] ?? 0
          gradient[column] = (gradient[column] ?? 0) + scale * (values[at] ?? 0)
        }
      }
    },
  }
}
