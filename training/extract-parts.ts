/**
 * Hands trajectories to a pool of extractors. What comes out per trajectory does not depend on the pool's size, nor on
 * which member took it; only the order of arrival does.
 */
import type { Extraction, ExtractionProgress, ExtractionRequest, Extractor } from '../models/frozen-lm/extraction.ts'
import { type Representation, representationId } from '../models/frozen-lm/representation.ts'
import { AppError, toAppError } from '../src/errors.ts'

export interface ExtractionJob {
  readonly index: number
  readonly request: ExtractionRequest
  /** Larger jobs are handed out first, so that no member is left alone with the largest. */
  readonly size: number
}

/**
 * Resolves when every job's `onExtracted` has resolved.
 * After the first failure, or when the signal is aborted, no job is begun any more and all extractors are closed.
 * @throws the first failure, with the trajectory's id; the signal's reason
 */
export async function extractParts(options: {
  readonly jobs: readonly ExtractionJob[]
  readonly workers: number
  readonly representation: Representation
  readonly startExtractor: () => Promise<Extractor>
  readonly onExtracted: (job: ExtractionJob, extraction: Extraction) => Promise<void>
  readonly onProgress: (job: ExtractionJob, progress: ExtractionProgress) => void
  readonly signal: AbortSignal
}): Promise<void> {
  const queue = [...options.jobs].sort((a, b) => b.size - a.size || a.index - b.index)
  const failed = new AbortController()
  const stop = AbortSignal.any([options.signal, failed.signal])
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    const extractor = await startChecked(options.startExtractor, options.representation)
    try {
      for (let job = stop.aborted ? undefined : queue.shift(); job !== undefined; ) {
        await runJob(extractor, job, { ...options, signal: stop })
        job = stop.aborted ? undefined : queue.shift()
      }
    } finally {
      await extractor.close()
    }
  }
  const members = Array.from({ length: Math.min(options.workers, queue.length) }, async () => {
    try {
      await work()
    } catch (thrown) {
      failures.push(thrown)
      failed.abort()
    }
  })
  await Promise.all(members)
  options.signal.throwIfAborted()
  if (failures.length > 0) throw failures[0]
}

async function startChecked(start: () => Promise<Extractor>, expected: Representation): Promise<Extractor> {
  const extractor = await start()
  const id = representationId(extractor.representation)
  const wanted = representationId(expected)
  if (id === wanted) return extractor
  await extractor.close()
  throw new AppError(
    'representation-mismatch',
    `the extractor makes representation ${id}, the dataset holds ${wanted}: did the model's files change meanwhile?`,
  )
}

async function runJob(
  extractor: Extractor,
  job: ExtractionJob,
  hooks: Pick<Parameters<typeof extractParts>[0], 'onExtracted' | 'onProgress' | 'signal'>,
): Promise<void> {
  let extraction: Extraction
  try {
    extraction = await extractor.extract(job.request, {
      signal: hooks.signal,
      onProgress: (progress) => hooks.onProgress(job, progress),
    })
  } catch (thrown) {
    const error = toAppError(thrown)
    throw new AppError(error.code, `run ${job.request.trajectory.id}: ${error.message}`, {
      cause: thrown,
      details: { ...error.details, trajectory: job.request.trajectory.id },
    })
  }
  await hooks.onExtracted(job, extraction)
}
