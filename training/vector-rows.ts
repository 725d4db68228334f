/**
 * Rows of a dataset's vector table as float32, standardised on the way.
 */
import type { VectorTable } from '../data/store/dataset.ts'
import { openVectorReader } from '../data/store/vector-reader.ts'
import type { BlockStandardisation } from '../models/router/standardisation.ts'
import { decodeF16 } from '../src/tensor/half.ts'

export interface VectorRows {
  /** d */
  readonly cols: number
  /** Adds scale * row to `sum` (d f64). */
  add(row: number, scale: number, sum: Float64Array): void
  /** Writes (row - mean) / std into out[offset, offset + d); row -1 stands for the zero vector. */
  write(row: number, standardisation: BlockStandardisation, out: Float32Array, offset: number): void
  /** For tables that stay in their file; again is fine. */
  close(): void
}

/**
 * Rows kept decoded: those of a run stand next to each other, and each is a neighbour of many pairs. 4 MB at
 * d = 4,096.
 */
const KEPT_ROWS = 256

/** f16 tables are read through a table of all 65,536 values: a vector is decoded many times per epoch. */
export function vectorRows(vectors: VectorTable): VectorRows {
  const reader = openVectorReader(vectors)
  const { cols } = reader
  let table: Float32Array | null = null
  const zero = new Float32Array(cols)
  const kept = new Map<number, { readonly row: number; readonly values: Float32Array }>()
  const read = (row: number): Float32Array => {
    const place = row % KEPT_ROWS
    const known = kept.get(place)
    if (known?.row === row) return known.values
    const { values } = known ?? { values: new Float32Array(cols) }
    const stored = reader.read(row)
    if (stored instanceof Uint16Array) {
      table ??= decodeF16(Uint16Array.from({ length: 65536 }, (_, bits) => bits))
      for (let k = 0; k < cols; k++) values[k] = table[stored[k] as number] as number
    } else values.set(stored)
    kept.set(place, { row, values })
    return values
  }
  return {
    cols,
    add(row, scale, sum) {
      const values = read(row)
      for (let k = 0; k < cols; k++) sum[k] = (sum[k] as number) + scale * (values[k] as number)
    },
    write(row, { mean, std }, out, offset) {
      const values = row < 0 ? zero : read(row)
      for (let k = 0; k < cols; k++)
        out[offset + k] = ((values[k] as number) - (mean[k] as number)) / (std[k] as number)
    },
    close: () => reader.close(),
  }
}
