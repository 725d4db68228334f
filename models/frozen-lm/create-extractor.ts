/**
 * Opens an extractor from plain options: what a process or thread can be told to do.
 */
import { loadTokenizer } from '../tokenizer/hf-tokenizer.ts'
import { describeRepresentation } from './describe-representation.ts'
import type { Extractor, ExtractorOptions } from './extraction.ts'
import { assembleExtractor } from './extractor.ts'
import { loadFrozenLm } from './load-frozen-lm.ts'
import { longestView } from './plan-extractor-memory.ts'

/**
 * An extractor in this thread: its runs block the event loop. Servers and commands use startSupervisedExtractor and
 * startWorkerExtractor.
 * @throws model-not-found, tokenizer-missing, config-invalid and the other artifact errors of loading
 */
export async function createExtractor(options: ExtractorOptions): Promise<Extractor> {
  const { directory, layer, execution = {}, vectorCacheBytes = 0, prefixCacheBytes = 0 } = options
  const lm = await loadFrozenLm({
    directory,
    layer,
    execution,
    viewTokens: longestView(options.recipe),
    cacheBytes: vectorCacheBytes + prefixCacheBytes,
  })
  try {
    const tokenizer = loadTokenizer(directory)
    const representation = describeRepresentation(options)
    return assembleExtractor({ lm, tokenizer, representation, vectorCacheBytes, prefixCacheBytes })
  } catch (error) {
    await lm.close()
    throw error
  }
}
