/**
 * Vectors on disk: one `.part` per trajectory while extracting, then vectors.arrow with one record batch per trajectory.
 * Both are Arrow files with the same columns.
 */
import type { Representation } from '../../models/frozen-lm/representation.ts'
import { representationId } from '../../models/frozen-lm/representation.ts'
import { AppError } from '../../src/errors.ts'
import { type ArrowFile, openArrow, writeArrow } from './arrow-file.ts'
import { type FileSeam, type WrittenFile, writeFileWhole } from './file-seam.ts'
import { partPath } from './layout.ts'
import { parsePartMetadata, parseVectorsMetadata } from './manifest.schema.ts'
import { fromVectorBatch, type TrajectoryVectors, toVectorBatch, vectorColumns } from './trajectory-vectors.ts'

export interface Part {
  readonly vectors: TrajectoryVectors
  /** Tokens the LM computed for them. */
  readonly computedTokens: number
}

/** @throws disk-full; an older part of that index stays as it was */
export async function writePart(options: {
  readonly files: FileSeam
  readonly directory: string
  readonly index: number
  readonly id: string
  readonly representation: Representation
  readonly part: Part
}): Promise<void> {
  const { files, directory, index, id, representation, part } = options
  const { storageDtype, model } = representation
  await writeFileWhole(files, partPath(directory, index), (append) =>
    writeArrow({
      columns: vectorColumns([id], storageDtype, model.hiddenSize),
      metadata: { trajectory: id, computedTokens: part.computedTokens },
      batches: [toVectorBatch(part.vectors, 0)],
      append,
    }),
  )
}

/** @throws dataset-invalid when the part is damaged or belongs to another trajectory */
export async function readPart(options: {
  readonly directory: string
  readonly index: number
  readonly id: string
  readonly representation: Representation
}): Promise<Part> {
  const { directory, index, id, representation } = options
  const path = partPath(directory, index)
  const { storageDtype, model } = representation
  const file = await openArrow(path, vectorColumns([id], storageDtype, model.hiddenSize))
  try {
    const { trajectory, computedTokens } = parsePartMetadata(path, file.metadata)
    if (trajectory !== id)
      throw new AppError('dataset-invalid', `${path} holds trajectory ${trajectory} instead of ${id}: use --fresh`)
    const { rows, columns } = await file.readBatch(0)
    return { vectors: fromVectorBatch(columns, rows, model.hiddenSize), computedTokens }
  } finally {
    await file.close()
  }
}

/**
 * Writes vectors.arrow.
 *   readPart        the part of the trajectory at a position; called once per trajectory, in order
 *   computedTokens  over all parts: the schema stands before the batches
 */
export async function writeVectors(options: {
  readonly files: FileSeam
  readonly path: string
  readonly ids: readonly string[]
  readonly representation: Representation
  readonly computedTokens: number
  readonly readPart: (index: number) => Promise<Part>
}): Promise<WrittenFile> {
  const { files, path, ids, representation, computedTokens } = options
  async function* batches(): AsyncGenerator<ReturnType<typeof toVectorBatch>> {
    for (let index = 0; index < ids.length; index++) yield toVectorBatch((await options.readPart(index)).vectors, index)
  }
  return writeFileWhole(files, path, (append) =>
    writeArrow({
      columns: vectorColumns(ids, representation.storageDtype, representation.model.hiddenSize),
      metadata: { representationId: representationId(representation), computedTokens },
      batches: batches(),
      append,
    }),
  )
}

export interface VectorsFile {
  readonly computedTokens: number
  readonly trajectories: number
  readTrajectory(index: number): Promise<TrajectoryVectors>
  close(): Promise<void>
}

/** @throws dataset-invalid when it is damaged or holds another representation */
export async function openVectors(path: string, representation: Representation): Promise<VectorsFile> {
  const { storageDtype, model } = representation
  const file: ArrowFile = await openArrow(path, vectorColumns([], storageDtype, model.hiddenSize))
  try {
    const metadata = parseVectorsMetadata(path, file.metadata)
    const wanted = representationId(representation)
    if (metadata.representationId !== wanted)
      throw new AppError(
        'dataset-invalid',
        `${path} holds vectors of representation ${metadata.representationId}, expected ${wanted}: use --fresh`,
      )
    return {
      computedTokens: metadata.computedTokens,
      trajectories: file.batchCount,
      async readTrajectory(index) {
        const { rows, columns } = await file.readBatch(index)
        return fromVectorBatch(columns, rows, model.hiddenSize)
      },
      close: () => file.close(),
    }
  } catch (thrown) {
    await file.close()
    throw thrown
  }
}
