/**
 * From what a person types after --model to a directory on this machine. Nothing is ever downloaded.
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError } from '../src/errors.ts'
import { packageFile } from './package-root.ts'

/** Name of the model inside the package. A directory of that name is meant by `./tiny`. */
export const EMBEDDED_MODEL = 'tiny'

/**
 * @param nameOrPath `tiny` for the embedded model, or the path of a Hugging Face checkpoint directory
 * @returns absolute path of an existing directory
 * @throws model-not-found
 */
export function resolveModelDirectory(nameOrPath: string): string {
  const directory = nameOrPath === EMBEDDED_MODEL ? packageFile('models', EMBEDDED_MODEL) : resolve(nameOrPath)
  requireModelDirectory(directory)
  return directory
}

/** @throws model-not-found */
export function requireModelDirectory(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return
  throw new AppError(
    'model-not-found',
    `no model at ${directory} (${found === undefined ? 'it does not exist' : 'it is no directory'}): give --model the directory of a downloaded Hugging Face checkpoint (config.json, tokenizer.json, *.safetensors), or ${EMBEDDED_MODEL} for the embedded model; \`keepready models pull ORGANISATION/NAME\` gets one, \`keepready models ls\` shows what is here`,
    { details: { directory } },
  )
}
