/** Row-major matrices of float32. Pure. */
export interface Matrix {
  /** length = rows * cols */
  readonly data: Float32Array
  readonly rows: number
  readonly cols: number
}

export function createMatrix(rows: number, cols: number): Matrix {
  return { data: new Float32Array(rows * cols), rows, cols }
}

/** A view (not a copy) of row i. */
export function rowOf(matrix: Matrix, i: number): Float32Array {
  return matrix.data.subarray(i * matrix.cols, (i + 1) * matrix.cols)
}

export function matrixFromRows(rows: readonly ArrayLike<number>[], cols: number): Matrix {
  const out = createMatrix(rows.length, cols)
  rows.forEach((row, i) => {
    out.data.set(row, i * cols)
  })
  return out
}
