/**
 * The state of a dataset directory before an extraction: what can be reused, and whether it may be.
 */
import { existsSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { type FileSeam, UNFINISHED, writeTextWhole } from './file-seam.ts'
import {
  CONTENT_FILES,
  MANIFEST_FILE,
  OPTIONS_FILE,
  partPath,
  partsPath,
  TRAJECTORIES_FILE,
  VECTORS_FILE,
} from './layout.ts'
import { type ExtractionOptions, parseExtractionOptions } from './manifest.schema.ts'

export interface StoreState {
  /** vectors.arrow is complete: no extraction is needed, parts are leftovers. */
  readonly vectorsComplete: boolean
  readonly trajectoriesComplete: boolean
  /** The last file to appear is there; whether it fits its files is not checked here. */
  readonly manifestThere: boolean
  /** Positions of trajectories whose part is complete. */
  readonly parts: ReadonlySet<number>
}

/**
 * Makes the directory ready for an extraction with these options.
 * Removes what a killed run left half-written; `fresh` removes the old dataset too, and nothing that is not a dataset's.
 * @throws option-invalid when it was made with other options or holds other things; dataset-invalid when it is damaged
 */
export async function openStore(store: {
  readonly files: FileSeam
  readonly directory: string
  readonly options: ExtractionOptions
  readonly trajectories: number
  readonly fresh: boolean
}): Promise<StoreState> {
  const { files, directory, options } = store
  if (existsSync(directory) && !statSync(directory).isDirectory())
    throw new AppError('option-invalid', `${directory} is a file: give --out a directory`, { details: { directory } })
  await files.makeDirectory(directory)
  const optionsPath = join(directory, OPTIONS_FILE)
  if (existsSync(optionsPath)) {
    if (store.fresh || (await holdsNothing(directory))) await removeDataset(files, directory)
    else checkSameOptions(directory, parseExtractionOptions(optionsPath, await readFile(optionsPath, 'utf8')), options)
  } else await checkEmpty(directory)
  await removeUnfinished(files, directory)
  await files.makeDirectory(partsPath(directory))
  await removeUnfinished(files, partsPath(directory))
  if (!existsSync(optionsPath)) await writeTextWhole(files, optionsPath, `${JSON.stringify(options, null, 2)}\n`)
  const indices = Array.from({ length: store.trajectories }, (_, index) => index)
  return {
    vectorsComplete: existsSync(join(directory, VECTORS_FILE)),
    trajectoriesComplete: existsSync(join(directory, TRAJECTORIES_FILE)),
    manifestThere: existsSync(join(directory, MANIFEST_FILE)),
    parts: new Set(indices.filter((index) => existsSync(partPath(directory, index)))),
  }
}

/** Options without a result, as after a refused view budget: they bind nobody. */
async function holdsNothing(directory: string): Promise<boolean> {
  const parts = existsSync(partsPath(directory)) ? await readdir(partsPath(directory)) : []
  const made = [MANIFEST_FILE, ...CONTENT_FILES].some((name) => existsSync(join(directory, name)))
  return !made && parts.every((name) => name.endsWith(UNFINISHED))
}

/** The manifest goes first, the options last: killed anywhere, what is left is no complete dataset. */
async function removeDataset(files: FileSeam, directory: string): Promise<void> {
  for (const name of [MANIFEST_FILE, ...CONTENT_FILES]) await files.remove(join(directory, name))
  await files.remove(partsPath(directory))
  await files.remove(join(directory, OPTIONS_FILE))
}

async function removeUnfinished(files: FileSeam, directory: string): Promise<void> {
  for (const name of await readdir(directory)) if (name.endsWith(UNFINISHED)) await files.remove(join(directory, name))
}

async function checkEmpty(directory: string): Promise<void> {
  const foreign = (await readdir(directory)).filter((name) => name !== `${OPTIONS_FILE}${UNFINISHED}`)
  if (foreign.length === 0) return
  throw new AppError(
    'option-invalid',
    `${directory} holds other things (${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', ...' : ''}) ` +
      'and no dataset: give --out a new directory',
    { details: { directory, foreign: foreign.slice(0, 20) } },
  )
}

function checkSameOptions(directory: string, there: ExtractionOptions, wanted: ExtractionOptions): void {
  const before = flatten('', there)
  const differences = [...flatten('', wanted)]
    .filter(([name, value]) => before.get(name) !== value && name !== 'representationId')
    .map(([name, value]) => `${name} is ${before.get(name)}, now ${value}`)
  if (differences.length === 0) return
  throw new AppError(
    'option-invalid',
    `${directory} was made with other options (${differences.join('; ')}): ` +
      'give another --out, or --fresh to make this one anew',
    { details: { directory, differences } },
  )
}

/** Leaves of nested records by dotted name. */
function flatten(prefix: string, value: unknown): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null) return new Map([[prefix, value]])
  return new Map(
    Object.entries(value).flatMap(([key, child]) => [...flatten(prefix === '' ? key : `${prefix}.${key}`, child)]),
  )
}
