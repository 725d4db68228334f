/**
 * Runs training jobs on worker threads: the engine blocks its thread, so the parent stays free for Ctrl-C and progress.
 * Results come in job order and do not depend on the number of threads.
 */
import { Worker } from 'node:worker_threads'
import type { Dataset } from '../data/store/dataset.ts'
import { compiledEntry } from '../models/package-root.ts'
import type { EpochRecord } from '../models/router/manifest.ts'
import { AppError, type ErrorCode, type ErrorDetails, toAppError } from '../src/errors.ts'
import { shareDataset } from './share-dataset.ts'
import type { TrainedRouter, TrainJob } from './train-rotation.ts'

export type WorkerRequest =
  | { readonly kind: 'run'; readonly job: TrainJob }
  /** End the running job after its current step, then close. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'close' }
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

/**
 * Threads are asked to stop and never terminated: a thread that is killed inside the native runtime takes the whole
 * process with it (measured: onnxruntime-node 1.30 aborts).
 */
export function createWorkerRunner(options: {
  readonly workers: number
  /** Path of the thread's compiled entry. */
  readonly entry?: string
}): JobRunner {
  const { workers: limit, entry = compiledEntry('training/train-worker.js') } = options
  return async (dataset, jobs, hooks) => {
    hooks.signal?.throwIfAborted()
    const workerData = { dataset: shareDataset(dataset) }
    const queue = [...jobs]
    const workers = Array.from({ length: Math.min(limit, jobs.length) }, () => new Worker(entry, { workerData }))
    const stop = (): void => {
      queue.length = 0
      for (const worker of workers) worker.postMessage({ kind: 'stop' } satisfies WorkerRequest)
    }
    hooks.signal?.addEventListener('abort', stop, { once: true })
    const failures: unknown[] = []
    const serve = async (worker: Worker): Promise<void> => {
      try {
        await serveQueue(worker, queue, hooks)
      } catch (thrown) {
        failures.push(thrown)
        stop()
      }
    }
    await Promise.all(workers.map(serve))
    hooks.signal?.removeEventListener('abort', stop)
    hooks.signal?.throwIfAborted()
    if (failures.length > 0) throw failures[0]
  }
}

/** Feeds one worker until the queue is empty and the thread has ended; then rejects if a job failed. */
function serveQueue(worker: Worker, queue: TrainJob[], hooks: JobHooks): Promise<void> {
  return new Promise((resolve, reject) => {
    let current: TrainJob | undefined
    let failure: AppError | null = null
    const next = (): void => {
      current = queue.shift()
      const request: WorkerRequest = current === undefined ? { kind: 'close' } : { kind: 'run', job: current }
      worker.postMessage(request)
    }
    const onMessage = (message: WorkerReply): void => {
      if (message.kind === 'step') hooks.onStep?.(message.pairs)
      else if (message.kind === 'epoch') {
        if (current !== undefined) hooks.onEpoch?.(current, message.record)
      } else if (message.kind === 'result') {
        hooks.onResult(message.result)
        next()
      } else {
        failure = new AppError(message.code, message.message, { details: message.details })
        worker.postMessage({ kind: 'close' } satisfies WorkerRequest)
      }
    }
    worker.on('message', (message: WorkerReply) => {
      try {
        onMessage(message)
      } catch (thrown) {
        // Storing a result failed (disk full): the thread still has to end in order.
        failure = toAppError(thrown)
        worker.postMessage({ kind: 'close' } satisfies WorkerRequest)
      }
    })
    worker.on('error', (cause) => {
      failure = new AppError('host-crashed', `a training thread failed: ${String(cause)}`, { cause })
    })
    worker.on('exit', (code) => {
      if (failure !== null) reject(failure)
      else if (current === undefined && code === 0) resolve()
      else reject(new AppError('host-crashed', `a training thread ended with code ${code} before its job was done`))
    })
    next()
  })
}
