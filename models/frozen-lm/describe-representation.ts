/**
 * The representation an extractor with these options would make, without loading the model: config and file hashes only.
 */
import { basename, resolve } from 'node:path'
import { openCheckpoint } from './checkpoint.ts'
import type { ExtractorOptions } from './extraction.ts'
import { hashModelFiles } from './hash-model.ts'
import { resolveLayer } from './load-frozen-lm.ts'
import { createRepresentation, type Representation } from './representation.ts'

/**
 * Reads every byte of the model's files once per process (about a second per GB).
 * @throws layer-out-of-range and what openCheckpoint throws
 */
export function describeRepresentation(options: ExtractorOptions): Representation {
  const { directory, layer, recipe, storageDtype, execution = {} } = options
  const { config } = openCheckpoint(directory)
  const { architecture, hiddenSize, layerCount } = config
  return createRepresentation({
    model: { name: basename(resolve(directory)), architecture, hiddenSize, filesSha256: hashModelFiles(directory) },
    layer: resolveLayer({ directory, wanted: layer, layerCount }),
    storageDtype,
    ...(execution.quantize === 'int8' ? { quantize: 'int8' } : {}),
    ...(execution.precision === 'f16' ? { precision: 'f16' } : {}),
    recipe,
  })
}
