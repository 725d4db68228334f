/**
 * The model a benchmark runs on. `smollm2-shape` is the real SmolLM2 where it lies on this machine, and a checkpoint of
 * the same shape with random weights, in a temporary directory, otherwise.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveModelDirectory } from '../model-directory.ts'
import { SMOLLM2_SHAPE, writeRandomCheckpoint } from './bench-random-checkpoint.ts'

export const SMOLLM2_SHAPE_NAME = 'smollm2-shape'

export interface BenchModel {
  readonly directory: string
  readonly description: string
  /** Removes what was written for the benchmark. */
  cleanUp(): void
}

/**
 * @param nameOrPath `smollm2-shape`, `tiny`, or a checkpoint directory
 * @param options.layerCount layers of a random checkpoint: those above the measured one are never read
 * @param options.real where the real SmolLM2 would lie; default: where its fetch script puts it
 * @throws model-not-found, disk-full
 */
export function openBenchModel(
  nameOrPath: string,
  options: { readonly layerCount: number; readonly seed: number; readonly real?: string },
): BenchModel {
  if (nameOrPath !== SMOLLM2_SHAPE_NAME) {
    const directory = resolveModelDirectory(nameOrPath)
    return { directory, description: directory, cleanUp: () => undefined }
  }
  const { real = join(homedir(), '.cache', 'keepready', 'smollm2-135m-instruct') } = options
  if (existsSync(join(real, 'model.safetensors')))
    return { directory: real, description: `SmolLM2-135M-Instruct in ${real}`, cleanUp: () => undefined }
  const directory = mkdtempSync(join(tmpdir(), 'keepready-bench-'))
  const cleanUp = (): void => rmSync(directory, { recursive: true, force: true })
  try {
    const config = { ...SMOLLM2_SHAPE, num_hidden_layers: options.layerCount }
    writeRandomCheckpoint({ directory, config, seed: options.seed })
  } catch (thrown) {
    cleanUp()
    throw thrown
  }
  return { directory, description: 'random weights in the shape of SmolLM2-135M (float16)', cleanUp }
}
