/**
 * Runs training jobs in processes of their own: the engine blocks its thread, so the parent stays free for Ctrl-C and
 * progress; a native crash ends one process and nothing else; and the allocator can be told at the start what threads of
 * one process could not be. Results do not depend on the number of processes.
 */
import { type ChildProcess, fork } from 'node:child_process'
import type { Dataset } from '../data/store/dataset.ts'
import { compiledEntry } from '../models/package-root.ts'
import type { EpochRecord } from '../models/router/manifest.ts'
import { AppError, type ErrorCode, type ErrorDetails, invariant, toAppError } from '../src/errors.ts'
import { readFinishedJob } from './resume/finished-job.ts'
import type { TrainedRouter, TrainJob } from './train-rotation.ts'

export type WorkerRequest =
  | { readonly kind: 'open'; readonly dataset: Dataset }
  | { readonly kind: 'run'; readonly job: TrainJob }
  /** End the running job after its current step, then close. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'close' }
export type WorkerReply =
  /** Pairs of some steps, and their mean loss. */
  | { readonly kind: 'step'; readonly pairs: number; readonly lossNats: number }
  | { readonly kind: 'epoch'; readonly record: EpochRecord }
  | { readonly kind: 'result'; readonly result: TrainedRouter }
  /** The result lies in the job's folder. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'error'; readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails }

export interface JobHooks {
  readonly signal?: AbortSignal | undefined
  /** @param pairs of the steps since the last call, with their mean loss */
  readonly onStep?: ((pairs: number, lossNats: number) => void) | undefined
  readonly onEpoch?: ((job: TrainJob, record: EpochRecord) => void) | undefined
  /** Called as soon as a job ends, in any order; keep what is large on disk here. */
  readonly onResult: (result: TrainedRouter) => void
}

/** Runs every job; ends with the first error. */
export type JobRunner = (dataset: Dataset, jobs: readonly TrainJob[], hooks: JobHooks) => Promise<void>

/**
 * Gradients of 100 MB leave ONNX Runtime in a fresh buffer each step. With these the C library keeps such buffers instead
 * of giving them back to the kernel and faulting them in again (reference/trainer.md section 1: 3.1x faster copies).
 */
const KEEP_LARGE_BUFFERS =
  'glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=4294967295:glibc.malloc.trim_threshold=8589934592'

/** What training processes are started with: `environment`, and the allocator's settings unless it has others. */
export function trainingEnvironment(environment: Environment): Environment {
  return { GLIBC_TUNABLES: KEEP_LARGE_BUFFERS, ...environment }
}

export type Environment = Readonly<Record<string, string | undefined>>

export function createWorkerRunner(options: {
  readonly workers: number
  /** Of the processes; left out: this process's own, and the allocator as it is. */
  readonly environment?: Environment
  /** Path of the process's compiled entry. */
  readonly entry?: string
}): JobRunner {
  const { workers: limit, environment, entry = compiledEntry('training/train-process.js') } = options
  const env = environment && trainingEnvironment(environment)
  return async (dataset, jobs, hooks) => {
    hooks.signal?.throwIfAborted()
    const queue = [...jobs]
    const workers = Array.from({ length: Math.min(limit, jobs.length) }, () => startWorker(entry, env))
    const stop = (): void => {
      queue.length = 0
      for (const worker of workers) tell(worker, { kind: 'stop' })
    }
    hooks.signal?.addEventListener('abort', stop, { once: true })
    const failures: unknown[] = []
    const serve = async (worker: ChildProcess): Promise<void> => {
      try {
        tell(worker, { kind: 'open', dataset })
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

function startWorker(entry: string, env: Environment | undefined): ChildProcess {
  return fork(entry, [], {
    serialization: 'advanced',
    execArgv: [],
    // What native code prints goes to stderr: stdout is for data.
    stdio: ['ignore', 2, 2, 'ipc'],
    ...(env === undefined ? {} : { env: { ...env } }),
  })
}

/** What cannot be sent goes to a process that is gone or about to be: its exit is what counts. */
function tell(worker: ChildProcess, request: WorkerRequest): void {
  if (worker.connected) worker.send(request, () => undefined)
}

/** Feeds one process until the queue is empty and it has ended; then rejects if a job failed. */
function serveQueue(worker: ChildProcess, queue: TrainJob[], hooks: JobHooks): Promise<void> {
  return new Promise((resolve, reject) => {
    let current: TrainJob | undefined
    let failure: AppError | null = null
    const next = (): void => {
      current = queue.shift()
      tell(worker, current === undefined ? { kind: 'close' } : { kind: 'run', job: current })
    }
    const onMessage = (message: WorkerReply): void => {
      const job = invariant(current, 'a training process replies to a job')
      if (message.kind === 'step') hooks.onStep?.(message.pairs, message.lossNats)
      else if (message.kind === 'epoch') hooks.onEpoch?.(job, message.record)
      else if (message.kind === 'error') {
        failure = new AppError(message.code, message.message, { details: message.details })
        tell(worker, { kind: 'close' })
      } else {
        hooks.onResult(message.kind === 'result' ? message.result : keptResult(job))
        next()
      }
    }
    worker.on('message', (message) => {
      try {
        onMessage(message as WorkerReply)
      } catch (thrown) {
        // Storing a result failed (disk full): the process still has to end in order.
        failure = toAppError(thrown)
        tell(worker, { kind: 'close' })
      }
    })
    worker.on('error', (cause) => {
      failure = new AppError('host-crashed', `a training process failed: ${String(cause)}`, { cause })
      // One that never started has no exit either.
      if (worker.pid === undefined) reject(failure)
    })
    worker.on('exit', (code, signal) => {
      if (failure !== null) reject(failure)
      else if (current === undefined && code === 0) resolve()
      else reject(crashed(signal === null ? `exit code ${code}` : `signal ${signal}`, current))
    })
    next()
  })
}

function keptResult(job: TrainJob): TrainedRouter {
  return invariant(readFinishedJob(job.keep?.directory ?? ''), 'a finished job is kept in its folder')
}

function crashed(how: string, job: TrainJob | undefined): AppError {
  const why = how === 'signal SIGKILL' ? ', perhaps for want of memory: try --workers 1' : ''
  const kept = job?.keep === undefined ? '' : '; run the same command again, it goes on after the last kept epoch'
  return new AppError('host-crashed', `a training process ended (${how}) before its job was done${why}${kept}`)
}
