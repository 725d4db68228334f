import { mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeArrow } from '../../../../data/store/arrow-file.ts'
import { locateListValues } from '../../../../data/store/arrow-layout.ts'
import type { FileVectors } from '../../../../data/store/dataset.ts'
import { nodeFiles, writeFileWhole } from '../../../../data/store/file-seam.ts'
import { type TrajectoryVectors, toVectorBatch, vectorColumns } from '../../../../data/store/trajectory-vectors.ts'
import { openVectorReader } from '../../../../data/store/vector-reader.ts'
import { createRng } from '../../../../src/rng.ts'

const COLS = 5
const IDS = ['a', 'b', 'c']
/** Rows of each trajectory; one has none. */
const ROWS = [3, 0, 4]

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keepready-vector-reader-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function vectors(rows: number, values: Uint16Array | Float32Array): TrajectoryVectors {
  const none = new Int32Array(rows)
  return {
    rows,
    cols: COLS,
    checkpoint: none,
    role: none,
    interaction: none,
    viewTokens: none,
    truncatedTokens: none,
    sourceTokens: none,
    values,
  }
}

/** Writes all values as one batch per trajectory and opens them as a table of a file. */
async function storeRows(values: Uint16Array | Float32Array): Promise<FileVectors> {
  const path = join(folder, 'vectors.arrow')
  const dtype = values instanceof Uint16Array ? 'f16' : 'f32'
  const columns = vectorColumns(IDS, dtype, COLS)
  let first = 0
  const batches = ROWS.map((rows, t) => {
    const own = values.slice(first * COLS, (first + rows) * COLS)
    first += rows
    return toVectorBatch(vectors(rows, own), t)
  })
  await writeFileWhole(nodeFiles, path, (append) => writeArrow({ columns, metadata: {}, batches, append }))
  const runs = locateListValues(path, columns, 'vector')
  expect(runs.map((run) => run.rows)).toEqual(ROWS)
  const firstRows = Int32Array.of(0, 3, 3)
  const offsets = Float64Array.from(runs, ({ offset }) => offset)
  return { kind: 'file', rows: first, cols: COLS, dtype, path, firstRows, offsets }
}

const ALL = ROWS.reduce((sum, rows) => sum + rows, 0) * COLS

describe('openVectorReader', () => {
  it.each(['f16', 'f32'] as const)('reads single %s rows of a file, bit for bit and in any order', async (dtype) => {
    const rng = createRng(7)
    const values =
      dtype === 'f16'
        ? Uint16Array.from({ length: ALL }, () => rng.nextUint32() & 0xffff)
        : Float32Array.from({ length: ALL }, () => rng.nextNormal())
    const reader = openVectorReader(await storeRows(values))
    for (const row of [6, 0, 3, 2, 5, 1, 4, 6])
      expect(reader.read(row), `row ${row}`).toEqual(values.slice(row * COLS, (row + 1) * COLS))
    reader.close()
    reader.close()
  })

  it('names a file that has become shorter, and one that is gone', async () => {
    const table = await storeRows(new Float32Array(ALL))
    const reader = openVectorReader(table)
    truncateSync(table.path, (table.offsets[2] ?? 0) + 4 * COLS)
    expect(reader.read(3)).toEqual(new Float32Array(COLS))
    expect(() => reader.read(4)).toThrow(expect.objectContaining({ code: 'dataset-invalid' }))
    reader.close()
    rmSync(table.path)
    expect(() => openVectorReader(table)).toThrow(expect.objectContaining({ code: 'dataset-invalid' }))
  })
})

describe('locateListValues', () => {
  it('notices a file that lost its end', async () => {
    const { path } = await storeRows(new Float32Array(ALL))
    truncateSync(path, 200)
    expect(() => locateListValues(path, vectorColumns(IDS, 'f32', COLS), 'vector')).toThrow()
  })
})
