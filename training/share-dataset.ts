/**
 * A dataset whose columns lie in shared memory, so that worker threads read it without a copy each.
 */
import type { Dataset, PairTable } from '../data/store/dataset.ts'

export function shareDataset(dataset: Dataset): Dataset {
  const pairs = Object.fromEntries(
    Object.entries(dataset.pairs).map(([name, column]) => [name, ArrayBuffer.isView(column) ? shared(column) : column]),
  ) as unknown as PairTable
  const { vectors } = dataset
  return { ...dataset, pairs, vectors: vectors.kind === 'file' ? vectors : { ...vectors, data: shared(vectors.data) } }
}

function shared<T extends ArrayBufferView>(view: T): T {
  const buffer = new SharedArrayBuffer(view.byteLength)
  new Uint8Array(buffer).set(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
  const Column = view.constructor as new (buffer: SharedArrayBuffer) => T
  return new Column(buffer)
}
