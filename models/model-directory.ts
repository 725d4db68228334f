/** The embedded model, and what is said where there is no model. */
import { statSync } from 'node:fs'
import { AppError } from '../src/errors.ts'
import { packageFile } from './package-root.ts'

/** Name of the model inside the package. A directory of that name is meant by `./tiny`. */
export const EMBEDDED_MODEL = 'tiny'

/** Absolute path of its directory. */
export function embeddedModelDirectory(): string {
  return packageFile('models', EMBEDDED_MODEL)
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
