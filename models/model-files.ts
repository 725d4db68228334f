/**
 * Files of a model directory, with the rule for symbolic links: a hub cache keeps `snapshots/<revision>/<file>` as links
 * into `blobs/` of the same repository folder, so links may resolve inside the model directory or that folder only.
 */
import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { AppError } from '../src/errors.ts'

/** The folder that every file of the model must really lie in: the hub repository folder, or the directory itself. */
export function modelRoot(directory: string): string {
  const real = realpathSync(directory)
  const snapshots = dirname(real)
  const repository = dirname(snapshots)
  const inHubCache = basename(snapshots) === 'snapshots' && basename(repository).startsWith('models--')
  return inHubCache ? repository : real
}

/**
 * @param name file name relative to the directory
 * @returns the real path, links resolved; null if there is no such file
 * @throws model-link-escapes
 */
export function resolveModelFile(directory: string, name: string): string | null {
  const path = join(directory, name)
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null
  let real: string
  try {
    real = realpathSync(path)
  } catch (cause) {
    // A dangling link is a missing file; anything else (a loop, no permission) is not ours to explain away.
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new AppError('file-unreadable', `cannot resolve ${path}: ${String(cause)}`, { cause })
  }
  const root = modelRoot(directory)
  if (real.startsWith(root + sep)) return real
  throw new AppError(
    'model-link-escapes',
    `${path} points to ${real}, outside of ${root}: links are followed only inside the model directory or its hub cache folder; copy the file into the directory`,
  )
}
