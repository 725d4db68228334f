/**
 * Opens a router artefact and the frozen LM it was trained on, and refuses any other.
 */

import type { ServedExecution } from '../models/frozen-lm/execution.ts'
import type { Extraction, Extractor, ExtractorOptions } from '../models/frozen-lm/extraction.ts'
import { EMBEDDED_MODEL, resolveModelDirectory } from '../models/model-directory.ts'
import { type RouterArtefact, readRouter, requireRepresentation } from '../models/router/artefact.ts'
import type { RouterManifest } from '../models/router/manifest.ts'
import { createScorer } from '../models/router/scorer.ts'
import { AppError } from '../src/errors.ts'
import type { OperatingPointName } from '../src/router/operating-points.ts'
import { createReadinessModel, type ReadinessModel } from './readiness-model.ts'
import { createTokenQueue, type TokenQueue } from './token-queue.ts'

export interface OpenReadinessOptions<E extends Extractor> {
  readonly routerDirectory: string
  /** Null: the model that router.json names. */
  readonly model: string | null
  readonly operatingPoint: OperatingPointName
  readonly maxQueueTokens: number
  /** How the frozen LM is run; what the router was trained with decides about integer products and float16. */
  readonly execution?: Partial<ServedExecution>
  /** Default: what startExtractor takes without it. */
  readonly prefixCacheBytes?: number
  /** How the frozen LM is run: a supervised child in the server, a worker thread in the CLI. */
  readonly startExtractor: (options: ExtractorOptions) => Promise<E>
  readonly nowMs: () => number
  readonly onExtraction: (extraction: Extraction) => void
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
  const directory = modelDirectory(manifest, options.model)
  const { prefixCacheBytes } = options
  const extractor = await options.startExtractor({
    directory,
    layer,
    recipe,
    storageDtype,
    execution: { ...options.execution, quantize, precision },
    ...(prefixCacheBytes === undefined ? {} : { prefixCacheBytes }),
  })
  try {
    requireRepresentation(manifest, extractor.representation)
    return extractor
  } catch (thrown) {
    await extractor.close()
    throw thrown
  }
}

/** The embedded model is found by its name; any other one lives where only its owner knows. */
function modelDirectory(manifest: RouterManifest, given: string | null): string {
  if (given !== null) return resolveModelDirectory(given)
  const { name } = manifest.representation.model
  if (name === EMBEDDED_MODEL) return resolveModelDirectory(EMBEDDED_MODEL)
  throw new AppError(
    'model-not-found',
    `the router was trained on model ${name}, which is not inside the package: give its directory with --model DIR`,
    { details: { model: name } },
  )
}
