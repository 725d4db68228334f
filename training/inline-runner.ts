/**
 * Runs training jobs one after another on this thread: for tests.
 */
import { trainRotation } from './train-rotation.ts'
import type { JobRunner } from './worker-pool.ts'

export const runInline: JobRunner = async (dataset, jobs, hooks) => {
  for (const job of jobs) {
    const result = await trainRotation(dataset, job, {
      signal: hooks.signal,
      onStep: hooks.onStep,
      onEpoch: (record) => hooks.onEpoch?.(job, record),
    })
    hooks.onResult(result)
  }
}
