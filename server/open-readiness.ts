/**
 * Opens a router artefact and the frozen LM it was trained on, and refuses any other.
 */

import { describeSelfCheck } from '../models/frozen-lm/devices/self-check.ts'
import type { ServedExecution } from '../models/frozen-lm/execution.ts'
import type { Extraction, Extractor, ExtractorOptions } from '../models/frozen-lm/extraction.ts'
import { memoryLine } from '../models/frozen-lm/memory-plan.ts'
import { planExtractorMemory } from '../models/frozen-lm/plan-extractor-memory.ts'
import { EMBEDDED_MODEL, embeddedModelDirectory } from '../models/model-directory.ts'
import { type ModelCaches, resolveModel } from '../models/resolve-model.ts'
import { type RouterArtefact, readRouter, requireRepresentation } from '../models/router/artefact.ts'
import type { RouterManifest } from '../models/router/manifest.ts'
import { createScorer } from '../models/router/scorer.ts'
import { AppError } from '../src/errors.ts'
import type { OperatingPointName } from '../src/router/operating-points.ts'
import { createReadinessModel, type ReadinessModel } from './readiness-model.ts'
import { createTokenQueue, type TokenQueue } from './token-queue.ts'

export interface OpenReadinessOptions<E extends Extractor> {
  readonly routerDirectory: string
  /** As a person types it; null: the model that router.json names. */
  readonly model: string | null
  /** Where pulled and converted models are found. */
  readonly caches: ModelCaches
  readonly operatingPoint: OperatingPointName
  readonly maxQueueTokens: number
  /** How the frozen LM is run; what the router was trained with decides about integer products and float16. */
  readonly execution?: Partial<ServedExecution>
  /** Of vectors and states; default: what startExtractor takes without them. */
  readonly cacheBytes?: Pick<ExtractorOptions, 'vectorCacheBytes' | 'prefixCacheBytes'>
  /** How the frozen LM is run: a supervised child in the server, a worker thread in the CLI. */
  readonly startExtractor: (options: ExtractorOptions) => Promise<E>
  readonly nowMs: () => number
  readonly onExtraction: (extraction: Extraction) => void
  /** A line each: the memory that the model takes at most, before it is loaded; how far its device is from the CPU. */
  readonly onNote: (line: string) => void
}

export interface OpenReadiness<E extends Extractor> {
  readonly router: RouterArtefact
  readonly model: ReadinessModel
  readonly queue: TokenQueue
  /** Null for a router that reads evidence alone: no frozen LM is loaded. */
  readonly extractor: E | null
  close(): Promise<void>
}

/** @throws router-invalid, router-version-unsupported, representation-mismatch, model-not-found and other artifact errors */
export async function openReadiness<E extends Extractor>(options: OpenReadinessOptions<E>): Promise<OpenReadiness<E>> {
  const router = readRouter(options.routerDirectory)
  const extractor = router.spec.inputs === 'evidence' ? null : await openExtractor(router.manifest, options)
  const scorer = createScorer(router)
  const queue = createTokenQueue({ maxTokens: options.maxQueueTokens }, options.nowMs)
  const model = createReadinessModel({
    scorer,
    extractor,
    queue,
    operatingPoints: router.manifest.operatingPoints,
    defaultOperatingPoint: options.operatingPoint,
    nowMs: options.nowMs,
    onExtraction: options.onExtraction,
  })
  return {
    router,
    model,
    queue,
    extractor,
    async close() {
      await extractor?.close()
      await scorer.close()
    },
  }
}

async function openExtractor<E extends Extractor>(
  manifest: RouterManifest,
  options: OpenReadinessOptions<E>,
): Promise<E> {
  const { layer, recipe, storageDtype, quantize = 'none', precision = 'f32' } = manifest.representation
  const model: ExtractorOptions = {
    directory: await modelDirectory(manifest, options),
    layer,
    recipe,
    storageDtype,
    execution: { ...options.execution, quantize, precision },
    ...options.cacheBytes,
  }
  // Refused before a process is started.
  options.onNote(memoryLine(planExtractorMemory(model), 'the process of the model'))
  const extractor = await options.startExtractor(model)
  try {
    requireRepresentation(manifest, extractor.representation)
    if (extractor.selfCheck !== undefined) options.onNote(describeSelfCheck(extractor.selfCheck))
    return extractor
  } catch (thrown) {
    await extractor.close()
    throw thrown
  }
}

/** The embedded model is found by its name; any other one lives where only its owner knows. */
async function modelDirectory(
  manifest: RouterManifest,
  { model: given, caches }: Pick<OpenReadinessOptions<Extractor>, 'model' | 'caches'>,
): Promise<string> {
  if (given !== null) return resolveModel(given, caches)
  const { name } = manifest.representation.model
  if (name === EMBEDDED_MODEL) return embeddedModelDirectory()
  throw new AppError(
    'model-not-found',
    `the router was trained on model ${name}, which is not inside the package: give its directory with --model DIR`,
    { details: { model: name } },
  )
}
