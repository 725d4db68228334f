/**
 * Reads a finished dataset: its pairs into memory, of its vectors only where they stand. Files are not trusted: sizes are
 * compared with the manifest before anything is allocated, and every row number is checked before anyone indexes with it.
 */
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import type { ColumnKinds } from './arrow-file.ts'
import { locateListValues, type ValueRun } from './arrow-layout.ts'
import type { Dataset, FileVectors, PairTable } from './dataset.ts'
import { hashFile } from './hash-file.ts'
import { CONTENT_FILES, MANIFEST_FILE, OPTIONS_FILE, PAIRS_FILE, TRAJECTORIES_FILE, VECTORS_FILE } from './layout.ts'
import { parseManifest, type StoredManifest } from './manifest.schema.ts'
import { readPairs } from './pair-file.ts'
import { readRuns } from './runs.ts'
import { vectorColumns } from './trajectory-vectors.ts'
import { openVectors } from './vector-files.ts'

/**
 * @param options.verify also compare the SHA-256 of every file (about a second per GB); sizes are always compared
 * @throws file-not-found, dataset-incomplete (an extraction has not finished), dataset-invalid (damaged, other version)
 */
export async function readDataset(directory: string, options: { readonly verify?: boolean } = {}): Promise<Dataset> {
  const stored = await readStoredManifest(directory)
  await checkFiles(directory, stored, options)
  const { manifest, trajectories, topK } = stored
  const { counts, evidenceNames } = manifest
  const bytesPerPair = 4 * (topK + evidenceNames.length)
  if (counts.pairs * bytesPerPair > (stored.fileSizes[PAIRS_FILE] ?? 0))
    throw damaged(join(directory, PAIRS_FILE), `it is too small for ${counts.pairs} pairs`)
  const vectors = await locateVectors(directory, stored)
  const pairs = await readPairs(join(directory, PAIRS_FILE), {
    count: counts.pairs,
    topK,
    evidenceSize: evidenceNames.length,
  })
  checkPairs(join(directory, PAIRS_FILE), pairs, { trajectories: trajectories.length, rows: vectors.rows })
  return { directory, manifest, trajectories, pairs, vectors }
}

/** The runs behind the dataset, in its order, with all their text. */
export async function readDatasetTrajectories(directory: string): Promise<readonly Trajectory[]> {
  const { trajectories } = await readStoredManifest(directory)
  const path = join(directory, TRAJECTORIES_FILE)
  const runs = await readRuns(path)
  const wrong = trajectories.findIndex((row, i) => row.id !== runs[i]?.id || row.length !== runs[i].interactions.length)
  if (wrong !== -1 || runs.length !== trajectories.length)
    throw damaged(path, `its runs are not those of the manifest (${runs.length} of ${trajectories.length})`)
  return runs
}

/** @throws file-not-found, dataset-incomplete, dataset-invalid */
export async function readStoredManifest(directory: string): Promise<StoredManifest> {
  const path = join(directory, MANIFEST_FILE)
  if (existsSync(path)) return parseManifest(path, await readFile(path, 'utf8'))
  if (existsSync(join(directory, OPTIONS_FILE)))
    throw new AppError(
      'dataset-incomplete',
      `${directory} has no ${MANIFEST_FILE}: its extraction has not finished; ` +
        `re-run keepready extract RUNS --labels LABELS --out ${directory} with the same options, finished runs are reused`,
      { details: { directory } },
    )
  throw new AppError(
    'file-not-found',
    `${directory} is no dataset: make one with keepready extract RUNS --labels LABELS --out ${directory}`,
    { details: { directory } },
  )
}

/** @throws dataset-invalid when a file is missing, has another size or, with `verify`, another hash */
export async function checkFiles(
  directory: string,
  stored: StoredManifest,
  options: { readonly verify?: boolean },
): Promise<void> {
  for (const name of CONTENT_FILES) {
    const path = join(directory, name)
    const expected = stored.fileSizes[name]
    if (expected === undefined) throw damaged(path, 'the manifest does not list it')
    if (!existsSync(path)) throw damaged(path, 'it is missing')
    const { size } = await stat(path)
    if (size !== expected) throw damaged(path, `it has ${size} bytes, the manifest says ${expected}`)
    if (options.verify === true && (await hashFile(path)).sha256 !== stored.manifest.files[name])
      throw damaged(path, 'its SHA-256 is not the one of the manifest')
  }
}

/** Looks at where the vectors stand, and at none of them. */
async function locateVectors(directory: string, stored: StoredManifest): Promise<FileVectors> {
  const path = join(directory, VECTORS_FILE)
  const { counts, representation } = stored.manifest
  const cols = representation.model.hiddenSize
  const dtype = representation.storageDtype
  const rowBytes = cols * (dtype === 'f16' ? 2 : 4)
  if (counts.vectors * rowBytes > (stored.fileSizes[VECTORS_FILE] ?? 0))
    throw damaged(path, `it is too small for ${counts.vectors} vectors of ${cols} values`)
  const file = await openVectors(path, representation)
  await file.close()
  if (file.trajectories !== counts.trajectories)
    throw damaged(path, `it holds ${file.trajectories} trajectories, the manifest says ${counts.trajectories}`)
  const runs = locateRuns(path, vectorColumns([], dtype, cols))
  const firstRows = new Int32Array(runs.length)
  let rows = 0
  runs.forEach((run, index) => {
    if (run.sizeBytes < run.rows * rowBytes)
      throw damaged(path, `trajectory ${index} has ${run.sizeBytes} bytes for ${run.rows} vectors of ${cols} values`)
    firstRows[index] = rows
    rows += run.rows
  })
  if (rows !== counts.vectors) throw damaged(path, `it holds ${rows} vectors, the manifest says ${counts.vectors}`)
  return { kind: 'file', rows, cols, dtype, path, firstRows, offsets: Float64Array.from(runs, ({ offset }) => offset) }
}

function locateRuns(path: string, columns: ColumnKinds): readonly ValueRun[] {
  try {
    return locateListValues(path, columns, 'vector')
  } catch (thrown) {
    throw damaged(path, thrown instanceof Error ? thrown.message : String(thrown))
  }
}

function checkPairs(
  path: string,
  pairs: PairTable,
  limits: { readonly trajectories: number; readonly rows: number },
): void {
  const within = (values: Int32Array | Uint8Array, low: number, high: number, name: string): void => {
    const wrong = values.findIndex((value) => value < low || value >= high)
    if (wrong !== -1)
      throw damaged(path, `${name} of row ${wrong} is ${values[wrong]}, allowed are ${low}..${high - 1}`)
  }
  within(pairs.trajectory, 0, limits.trajectories, 'trajectory')
  within(pairs.label, 0, 2, 'label')
  within(pairs.hRow, 0, limits.rows, 'h_row')
  within(pairs.qRow, 0, limits.rows, 'q_row')
  within(pairs.topRows, -1, limits.rows, 'top_rows')
}

function damaged(path: string, why: string): AppError {
  return new AppError(
    'dataset-invalid',
    `${path} is damaged: ${why}: make the dataset again with \`keepready extract ... --fresh\``,
    { details: { path } },
  )
}
