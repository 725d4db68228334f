/**
 * Where things are in a dataset directory. While extracting there are `extraction.json` and `parts/`; a finished dataset
 * has no parts, and its manifest is the last file to appear.
 */
import { join } from 'node:path'

export const OPTIONS_FILE = 'extraction.json'
export const MANIFEST_FILE = 'manifest.json'
export const VECTORS_FILE = 'vectors.arrow'
export const PAIRS_FILE = 'pairs.arrow'
/** The runs that pairs point into, as given: evaluation reads observation text (TF-IDF), and the dataset stands alone. */
export const TRAJECTORIES_FILE = 'trajectories.jsonl'
/** Files whose size and hash the manifest holds. */
export const CONTENT_FILES = [VECTORS_FILE, PAIRS_FILE, TRAJECTORIES_FILE] as const
const PARTS_FOLDER = 'parts'

export function partsPath(directory: string): string {
  return join(directory, PARTS_FOLDER)
}

/** @param index position of the trajectory among those the dataset uses */
export function partPath(directory: string, index: number): string {
  return join(partsPath(directory), `${String(index).padStart(6, '0')}.part`)
}
