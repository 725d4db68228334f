/**
 * The model a benchmark runs on: the real SmolLM2 where it lies on this machine, the embedded model where it does not,
 * random weights in the shape of SmolLM2 when asked for (speed and memory do not depend on the values).
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { EMBEDDED_MODEL, embeddedModelDirectory } from '../model-directory.ts'
import { SMOLLM2_SHAPE, writeRandomCheckpoint } from './bench-random-checkpoint.ts'

/** The real one, or the embedded model in its place. */
export const SMOLLM2_NAME = 'smollm2'
export const SMOLLM2_SHAPE_NAME = 'smollm2-shape'

export interface BenchModel {
  readonly directory: string
  readonly description: string
  /** Removes what was written for the benchmark. */
  cleanUp(): void
}

/**
 * @param nameOrPath `smollm2`, `smollm2-shape`, or what `find` takes
 * @param options.find turns what a person typed into a directory (resolve-model.ts)
 * @param options.real where the real SmolLM2 would lie; default: where its fetch script puts it
 * @throws model-not-found, disk-full
 */
export async function openBenchModel(
  nameOrPath: string,
  options: {
    readonly seed: number
    readonly find: (nameOrPath: string) => Promise<string>
    readonly real?: string
  },
): Promise<BenchModel> {
  const { real = join(homedir(), '.cache', 'keepready', 'smollm2-135m-instruct') } = options
  if (nameOrPath === SMOLLM2_SHAPE_NAME) return writeShape(options.seed)
  const kept = (directory: string, description: string): BenchModel => ({
    directory,
    description,
    cleanUp: () => undefined,
  })
  if (nameOrPath !== SMOLLM2_NAME) {
    const directory = await options.find(nameOrPath)
    return kept(directory, directory)
  }
  if (existsSync(join(real, 'model.safetensors'))) return kept(real, `SmolLM2-135M-Instruct in ${real}`)
  return kept(embeddedModelDirectory(), `the embedded model ${EMBEDDED_MODEL}, because SmolLM2-135M is not in ${real}`)
}

function writeShape(seed: number): BenchModel {
  const directory = mkdtempSync(join(tmpdir(), 'keepready-bench-'))
  const cleanUp = (): void => rmSync(directory, { recursive: true, force: true })
  try {
    writeRandomCheckpoint({ directory, config: SMOLLM2_SHAPE, seed })
  } catch (thrown) {
    cleanUp()
    throw thrown
  }
  return { directory, description: 'random weights in the shape of SmolLM2-135M (float16)', cleanUp }
}
