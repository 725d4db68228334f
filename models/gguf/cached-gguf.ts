/** A GGUF file as a checkpoint directory in keepready's cache: converted when it is first used, found from then on. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import { type ConvertGgufOptions, convertGguf } from './convert.ts'
import { ggufParts } from './open-gguf.ts'

/** Raised when a conversion gives other bytes. */
const CONVERSION_VERSION = 1

/**
 * Known by path, size and time of its parts: hashing gigabytes at every start would take longer than loading them.
 * @throws file-not-found, and what convertGguf throws
 */
export async function cachedGguf(
  file: string,
  options: { readonly cacheDirectory: string } & Pick<ConvertGgufOptions, 'signal' | 'onProgress'>,
): Promise<string> {
  const { cacheDirectory, ...rest } = options
  const key = createHash('sha256').update(`${CONVERSION_VERSION}`)
  for (const part of ggufParts(file)) {
    const stats = statSync(part, { throwIfNoEntry: false })
    if (stats === undefined)
      throw new AppError('file-not-found', `${part} does not exist: give the path of a .gguf file`)
    key.update(`\0${realpathSync(part)}\0${stats.size}\0${stats.mtimeMs}`)
  }
  const name = `${basename(file).replace(/\.gguf$/i, '')}-${key.digest('hex').slice(0, 16)}`
  const out = join(cacheDirectory, 'gguf', name)
  if (isConverted(out)) return out
  try {
    return (await convertGguf({ file, out, dtype: null, tokenizerFile: null, ...rest })).directory
  } catch (thrown) {
    // Another process converted the same file meanwhile, and its directory took the name.
    if (isConverted(out)) return out
    throw thrown
  }
}

function isConverted(directory: string): boolean {
  return existsSync(directory) && readdirSync(directory).includes('config.json')
}
