/**
 * From what a person types after --model to a checkpoint directory: the embedded model, a directory, a GGUF file (converted
 * once), or a model of the hub that was pulled before. Nothing is downloaded.
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError } from '../src/errors.ts'
import type { CacheFolders } from './cache-folders.ts'
import { cachedGguf } from './gguf/cached-gguf.ts'
import type { ConvertGgufOptions } from './gguf/convert.ts'
import { findSnapshot, listSnapshots } from './hub/hub-cache.ts'
import { isModelId } from './hub/model-id.ts'
import { EMBEDDED_MODEL, embeddedModelDirectory, requireModelDirectory } from './model-directory.ts'

export type ModelCaches = Pick<CacheFolders, 'hub' | 'keepready'>

export type ResolveModelOptions = ModelCaches & Pick<ConvertGgufOptions, 'signal' | 'onProgress'>

/**
 * @param nameOrPath `tiny`, a directory, a .gguf file, or `ORGANISATION/NAME` with `@REVISION` where it is not main. What
 * exists as a path is taken as one.
 * @returns absolute path of an existing directory
 * @throws model-not-found, and for GGUF files what convertGguf throws
 */
export async function resolveModel(nameOrPath: string, options: ResolveModelOptions): Promise<string> {
  if (nameOrPath === EMBEDDED_MODEL) return embeddedModelDirectory()
  const found = statSync(nameOrPath, { throwIfNoEntry: false })
  if (found?.isFile() === true && /\.gguf$/i.test(nameOrPath)) {
    const { hub: _, keepready: cacheDirectory, ...conversion } = options
    return cachedGguf(nameOrPath, { cacheDirectory, ...conversion })
  }
  const [model = '', revision = 'main'] = nameOrPath.split('@')
  if (found !== undefined || !isModelId(model)) {
    const directory = resolve(nameOrPath)
    requireModelDirectory(directory)
    return directory
  }
  const snapshot = findSnapshot(options.hub, model, revision)
  if (snapshot !== null) return snapshot
  const others = listSnapshots(options.hub).filter((other) => other.model === model)
  const names = others.flatMap((other) => (other.revisions.length > 0 ? other.revisions : [other.commit]))
  throw new AppError(
    'model-not-found',
    `no model at ${nameOrPath}, and ${options.hub} holds ${others.length === 0 ? `no ${model}` : `${model} only at ${names.join(', ')}, not at ${revision}`}: pull it once with \`keepready models pull ${model}${revision === 'main' ? '' : ` --revision ${revision}`}\`, or give the directory of a checkpoint; nothing is downloaded unasked`,
    { details: { model, revision } },
  )
}
