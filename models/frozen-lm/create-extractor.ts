/**
 * Opens an extractor from plain options: what a process or thread can be told to do.
 */
import type { Recipe } from '../../src/view/recipe.ts'
import { loadTokenizer } from '../tokenizer/hf-tokenizer.ts'
import { describeRepresentation } from './describe-representation.ts'
import type { Extractor } from './extraction.ts'
import { assembleExtractor } from './extractor.ts'
import { loadFrozenLm } from './load-frozen-lm.ts'
import type { StorageDtype } from './representation.ts'

/** Structured-cloneable. */
export interface ExtractorOptions {
  /** HF checkpoint directory. */
  readonly directory: string
  /** Decoder layer whose output is read, 1-based; `default` is two thirds of the depth, rounded up. */
  readonly layer: number | 'default'
  readonly recipe: Recipe
  readonly storageDtype: StorageDtype
  /**
   * Bytes of vectors to remember for later requests of the same session. Vectors are the same with and without it,
   * `computedTokens` is not. Default: 0 in this and in a worker thread, 64 MiB in a supervised process.
   */
  readonly vectorCacheBytes?: number
}

/**
 * An extractor in this thread: its runs block the event loop. Servers and commands use startSupervisedExtractor and
 * startWorkerExtractor.
 * @throws model-not-found, tokenizer-missing, config-invalid and the other artifact errors of loading
 */
export async function createExtractor(options: ExtractorOptions): Promise<Extractor> {
  const { directory, layer, vectorCacheBytes = 0 } = options
  const lm = await loadFrozenLm({ directory, layer })
  try {
    const tokenizer = loadTokenizer(directory)
    return assembleExtractor({ lm, tokenizer, representation: describeRepresentation(options), vectorCacheBytes })
  } catch (error) {
    await lm.close()
    throw error
  }
}
