/**
 * Files of a model directory, with the rule for symbolic links: a hub cache keeps `snapshots/<revision>/<file>` as links
 * into `blobs/` of the same repository folder, so links may resolve inside the model directory or that folder only.
 */
import { lstatSync, realpathSync, statSync } from 'node:fs'
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

const MAX_JSON_BYTES = 128_000_000

/** Longest name that file systems take. */
const MAX_NAME_BYTES = 255

/**
 * @param name of a file in the directory itself; an index of shards is written by somebody else and may name anything
 * @returns the real path, links resolved; null if there is no such file
 * @throws model-link-escapes, file-unreadable, config-invalid (a JSON file too large to be read)
 */
export function resolveModelFile(directory: string, name: string): string | null {
  requirePlainName(directory, name)
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
  if (real.startsWith(root + sep)) {
    requireReadableSize(real, name)
    return real
  }
  throw new AppError(
    'model-link-escapes',
    `${path} points to ${real}, outside of ${root}: links are followed only inside the model directory or its hub cache folder; copy the file into the directory`,
  )
}

/** These are read whole. The largest tokenizer.json in use has about 35 MB. */
function requireReadableSize(path: string, name: string): void {
  if (!name.endsWith('.json')) return
  const { size } = statSync(path)
  if (size <= MAX_JSON_BYTES) return
  throw new AppError(
    'config-invalid',
    `${path} is ${size} bytes long, the limit for ${name} is ${MAX_JSON_BYTES}: get the file of the model again`,
  )
}

function requirePlainName(directory: string, name: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a NUL ends a path early
  const plain = name !== '' && name !== '.' && name !== '..' && !/[/\\\u0000]/.test(name)
  if (plain && Buffer.byteLength(name) <= MAX_NAME_BYTES) return
  throw new AppError(
    'model-link-escapes',
    `${directory}: ${JSON.stringify(name.slice(0, 200))} is no plain file name: the files of a model lie in its directory itself, shards that an index names too`,
  )
}
