/**
 * Runs training jobs on worker threads: the engine blocks its thread, so the parent stays free for Ctrl-C and progress.
 * Results come in job order and do not depend on the number of threads.
 */
import { Worker } from 'node:worker_threads'
import type { Dataset } from '../data/store/dataset.ts'
import { compiledEntry } from '../models/package-root.ts'
import type { EpochRecord } from '../models/router/manifest.ts'
import { AppError, type ErrorCode, type ErrorDetails } from '../src/errors.ts'
import { shareDataset } from './share-dataset.ts'
import type { TrainedRouter, TrainJob } from './train-rotation.ts'

export type WorkerRequest = { readonly kind: 'run'; readonly job: TrainJob } | { readonly kind: 'close' }
export type WorkerReply =
  | { readonly kind: 'step'; readonly pairs: number }
  | { readonly kind: 'epoch'; readonly record: EpochRecord }
  | { readonly kind: 'result'; readonly result: TrainedRouter }
  | { readonly kind: 'error'; readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails }

export interface JobHooks {
  readonly signal?: AbortSignal | undefined
  readonly onStep?: ((pairs: number) => void) | undefined
  readonly onEpoch?: ((job: TrainJob, record: EpochRecord) => void) | undefined
  /** Called as soon as a job ends, in any order; keep what is large on disk here. */
  readonly onResult: (result: TrainedRouter) => void
}

/** Runs every job; ends with the first error. */
export type JobRunner = (dataset: Dataset, jobs: readonly TrainJob[], hooks: JobHooks) => Promise<void>

export function createWorkerRunner(options: { readonly workers: number }): JobRunner {
  return async (dataset, jobs, hooks) => {
    hooks.signal?.throwIfAborted()
    const workerData = { dataset: shareDataset(dataset) }
    const queue = [...jobs]
    const workers = Array.from(
      { length: Math.min(options.workers, jobs.length) },
      () => new Worker(compiledEntry('training/train-worker.js'), { workerData }),
    )
    const stop = (): void => {
      for (const worker of workers) worker.terminate().catch(() => undefined)
    }
    hooks.signal?.addEventListener('abort', stop, { once: true })
    try {
      await Promise.all(workers.map((worker) => serveQueue(worker, queue, hooks)))
    } catch (thrown) {
      queue.length = 0
      stop()
      hooks.signal?.throwIfAborted()
      throw thrown
    } finally {
      hooks.signal?.removeEventListener('abort', stop)
    }
  }
}

/** Feeds one worker until the queue is empty; rejects with the job's error. */
function serveQueue(worker: Worker, queue: TrainJob[], hooks: JobHooks): Promise<void> {
  return new Promise((resolve, reject) => {
    let current: TrainJob | undefined
    const next = (): void => {
      current = queue.shift()
      const request: WorkerRequest = current === undefined ? { kind: 'close' } : { kind: 'run', job: current }
      worker.postMessage(request)
    }
    worker.on('message', (message: WorkerReply) => {
      if (message.kind === 'step') hooks.onStep?.(message.pairs)
      else if (message.kind === 'epoch') {
        if (current !== undefined) hooks.onEpoch?.(current, message.record)
      } else if (message.kind === 'result') {
        hooks.onResult(message.result)
        next()
      } else reject(new AppError(message.code, message.message, { details: message.details }))
    })
    worker.on('error', (cause) =>
      reject(new AppError('host-crashed', `a training thread failed: ${String(cause)}`, { cause })),
    )
    worker.on('exit', (code) => {
      if (current === undefined && code === 0) resolve()
      else reject(new AppError('host-crashed', `a training thread ended with code ${code} before its job was done`))
    })
    next()
  })
}
