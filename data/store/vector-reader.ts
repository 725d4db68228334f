/**
 * Single rows of a dataset's vector table in their stored form. Rows of a file go through one buffer, so a process holds
 * one row, whatever the table's size (DESIGN section 12: Node has no mmap, the page cache does the work).
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { AppError } from '../../src/errors.ts'
import type { FileVectors, MemoryVectors, VectorTable } from './dataset.ts'

export interface VectorReader {
  /** d */
  readonly cols: number
  /**
   * (cols) f16 bits in a Uint16Array, or f32. Valid until the next call.
   * @throws dataset-invalid when the file has become shorter
   */
  read(row: number): Uint16Array | Float32Array
  /** Closes the file, if there is one; again is fine. */
  close(): void
}

/** @throws dataset-invalid when the file is gone */
export function openVectorReader(vectors: VectorTable): VectorReader {
  const reader = vectors.kind === 'memory' ? readMemory(vectors) : readFile(vectors)
  return vectors.withheld === undefined ? reader : refuseRows(reader, vectors.withheld)
}

/** Whoever asks for a withheld row has a bug that would spoil a measurement: it must not go on. */
function refuseRows(reader: VectorReader, withheld: Uint8Array): VectorReader {
  return {
    ...reader,
    read(row) {
      if (withheld[row] !== 0)
        throw new AppError('invariant', `vector ${row} of ${withheld.length} is withheld: its group is a test group`)
      return reader.read(row)
    },
  }
}

function readMemory({ data, cols }: MemoryVectors): VectorReader {
  return { cols, read: (row) => data.subarray(row * cols, (row + 1) * cols), close: () => undefined }
}

function readFile(vectors: FileVectors): VectorReader {
  const { cols, dtype, path, firstRows, offsets } = vectors
  const values = dtype === 'f16' ? new Uint16Array(cols) : new Float32Array(cols)
  const bytes = new Uint8Array(values.buffer)
  let file: number | null = openFile(path)
  return {
    cols,
    read(row) {
      if (file === null) throw new AppError('invariant', `${path} is read after it was closed`)
      const run = lastAtMost(firstRows, row)
      const start = (offsets[run] as number) + (row - (firstRows[run] as number)) * bytes.length
      let done = 0
      while (done < bytes.length) {
        const got = readSync(file, bytes, done, bytes.length - done, start + done)
        if (got === 0) throw changed(path, `it ends before vector ${row}`)
        done += got
      }
      return values
    },
    close() {
      if (file !== null) closeSync(file)
      file = null
    },
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    throw changed(path, 'it cannot be opened', cause)
  }
}

/** Index of the last entry that is not above the value; entries ascend from 0. */
function lastAtMost(entries: Int32Array, value: number): number {
  let low = 0
  let high = entries.length
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if ((entries[middle] as number) <= value) low = middle
    else high = middle
  }
  return low
}

function changed(path: string, why: string, cause?: unknown): AppError {
  return new AppError(
    'dataset-invalid',
    `${path} has changed since the dataset was opened (${why}): let no other command write there, then run again`,
    { cause, details: { path } },
  )
}
