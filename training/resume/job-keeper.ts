/**
 * What a training job keeps on disk while it runs, and where it goes on after it was stopped. Without a folder nothing is
 * kept and nothing is found.
 */

import type { RouterSpec } from '../../models/router/spec.ts'
import { AppError, type ErrorDetails } from '../../src/errors.ts'
import type { LoopState } from '../loop.ts'
import type { TrainedRouter } from '../train-rotation.ts'
import { keepFinishedJob, readFinishedJob } from './finished-job.ts'
import { dropLoopState, keepLoopState, lastKeptEpoch, readLoopState } from './loop-state-file.ts'

export interface KeepOptions {
  /** Of this job alone: its name holds the job's key. */
  readonly directory: string
  /** States are kept at most this often; a small job then costs no writes, a large one keeps every epoch. */
  readonly everyMs: number
}

export interface JobKeeper {
  finished(): TrainedRouter | null
  startState(spec: RouterSpec): LoopState | null
  onEpoch(spec: RouterSpec, state: LoopState): Promise<void>
  finish(trained: TrainedRouter): Promise<void>
  /** A run that diverged, with the place of the last good state; any other error as it is. */
  explain(thrown: unknown): unknown
}

const KEEPS_NOTHING: JobKeeper = {
  finished: () => null,
  startState: () => null,
  onEpoch: () => Promise.resolve(),
  finish: () => Promise.resolve(),
  explain: (thrown) => thrown,
}

export function createJobKeeper(options: KeepOptions | undefined): JobKeeper {
  if (options === undefined) return KEEPS_NOTHING
  const { directory, everyMs } = options
  let keptAtMs = performance.now()
  return {
    finished: () => readFinishedJob(directory),
    startState: (spec) => readLoopState(directory, spec),
    async onEpoch(spec, state) {
      if (performance.now() - keptAtMs < everyMs) return
      await keepLoopState(directory, spec, state)
      keptAtMs = performance.now()
    },
    async finish(trained) {
      await keepFinishedJob(directory, trained)
      await dropLoopState(directory)
    },
    explain(thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'output-not-finite') return thrown
      const epoch = lastKeptEpoch(directory)
      const kept =
        epoch === null ? 'no epoch before it was kept' : `the last good state, after epoch ${epoch}, is in ${directory}`
      const details: ErrorDetails = { ...thrown.details, keptEpoch: epoch, directory }
      return new AppError(thrown.code, `${thrown.message}; ${kept}`, { cause: thrown, details })
    },
  }
}
