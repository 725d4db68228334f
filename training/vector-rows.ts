/**
 * Rows of a dataset's vector table as float32, standardised on the way. Pure.
 */
import type { VectorTable } from '../data/store/dataset.ts'
import type { BlockStandardisation } from '../models/router/standardisation.ts'
import { decodeF16 } from '../src/tensor/half.ts'

export interface VectorRows {
  /** d */
  readonly cols: number
  /** Adds scale * row to `sum` (d f64). */
  add(row: number, scale: number, sum: Float64Array): void
  /** Writes (row - mean) / std into out[offset, offset + d); row -1 stands for the zero vector. */
  write(row: number, standardisation: BlockStandardisation, out: Float32Array, offset: number): void
}

/** f16 tables are read through a table of all 65,536 values: a vector is decoded many times per epoch. */
export function vectorRows(vectors: VectorTable): VectorRows {
  const { data, cols } = vectors
  const table = data instanceof Uint16Array ? decodeF16(Uint16Array.from({ length: 65536 }, (_, bits) => bits)) : null
  const value = (index: number): number => {
    const stored = data[index] as number
    return table === null ? stored : (table[stored] as number)
  }
  return {
    cols,
    add(row, scale, sum) {
      for (let k = 0, from = row * cols; k < cols; k++) sum[k] = (sum[k] as number) + scale * value(from + k)
    },
    write(row, { mean, std }, out, offset) {
      for (let k = 0, from = row * cols; k < cols; k++) {
        const raw = row < 0 ? 0 : value(from + k)
        out[offset + k] = (raw - (mean[k] as number)) / (std[k] as number)
      }
    },
  }
}
