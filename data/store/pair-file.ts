/**
 * pairs.arrow as a whole: written from one table per trajectory, read into one table.
 */
import { AppError, invariant } from '../../src/errors.ts'
import { openArrow, writeArrow } from './arrow-file.ts'
import type { DatasetTrajectory, PairTable } from './dataset.ts'
import { type FileSeam, type WrittenFile, writeFileWhole } from './file-seam.ts'
import { createPairTable, fillPairs, pairColumns, pairNames, toPairBatch } from './pair-columns.ts'

/**
 * @param options.tables one per trajectory, in order; asked for one at a time
 * @throws disk-full; an older file stays as it was
 */
export async function writePairs(options: {
  readonly files: FileSeam
  readonly path: string
  readonly trajectories: readonly DatasetTrajectory[]
  readonly topK: number
  readonly evidenceSize: number
  readonly tables: AsyncIterable<PairTable>
}): Promise<WrittenFile> {
  const { files, path, trajectories, topK, evidenceSize, tables } = options
  const names = pairNames(trajectories)
  async function* batches(): AsyncGenerator<ReturnType<typeof toPairBatch>> {
    let index = 0
    for await (const table of tables) {
      yield toPairBatch(table, invariant(trajectories[index], 'one pair table per trajectory'), names)
      index += 1
    }
  }
  return writeFileWhole(files, path, (append) =>
    writeArrow({
      columns: pairColumns(names, { topK, evidenceSize }),
      metadata: { topK, evidenceSize },
      batches: batches(),
      append,
    }),
  )
}

/** @throws dataset-invalid when the file is damaged or does not hold `count` pairs */
export async function readPairs(
  path: string,
  sizes: { readonly count: number; readonly topK: number; readonly evidenceSize: number },
): Promise<PairTable> {
  const file = await openArrow(path, pairColumns({ ids: [], groups: [], domains: [] }, sizes))
  try {
    const table = createPairTable(sizes)
    let start = 0
    for (let index = 0; index < file.batchCount; index++) {
      const { rows, columns } = await file.readBatch(index)
      if (start + rows <= sizes.count) fillPairs(table, start, columns)
      start += rows
    }
    if (start !== sizes.count)
      throw new AppError(
        'dataset-invalid',
        `${path} holds ${start} pairs, its manifest says ${sizes.count}: make the dataset again with --fresh`,
        { details: { path, pairs: start, expected: sizes.count } },
      )
    return table
  } finally {
    await file.close()
  }
}
