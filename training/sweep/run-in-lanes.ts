/**
 * Runs training jobs in parallel lanes, each lane one job after another, so that it is known whose result or whose failure
 * came: many jobs of a search look alike, and one that diverges must not end the others.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import type { AppError } from '../../src/errors.ts'
import { invariant, toAppError } from '../../src/errors.ts'
import type { TrainedRouter, TrainJob } from '../train-rotation.ts'
import type { JobRunner } from '../worker-pool.ts'

/** Jobs that read the same dataset. */
export interface JobBatch<Tag> {
  /** Read when the batch starts, dropped when it ends. */
  readonly open: () => Promise<Dataset>
  readonly jobs: readonly { readonly job: TrainJob; readonly tag: Tag }[]
}

export interface LaneHooks<Tag> {
  readonly signal?: AbortSignal | undefined
  readonly onStep?: ((tag: Tag, pairs: number) => void) | undefined
  /** @param dataset that the job read: predictions are numbers of its pairs */
  readonly onResult: (tag: Tag, result: TrainedRouter, dataset: Dataset) => void
  /** A job whose loss diverged. Every other error ends the search. */
  readonly onDiverged: (tag: Tag, error: AppError) => void
}

/** A process that starts and a dataset that is sent cost about a second: worth sharing, not worth an idle lane. */
const MAX_BATCH = 8

/** @param runJobs runs the jobs of one call in order, one at a time */
export async function runInLanes<Tag>(
  batches: readonly JobBatch<Tag>[],
  options: { readonly lanes: number; readonly runJobs: JobRunner },
  hooks: LaneHooks<Tag>,
): Promise<void> {
  const { lanes, runJobs } = options
  const queue = batches.flatMap((batch) => cutBatch(batch, lanes))
  const stop = new AbortController()
  const signal = hooks.signal === undefined ? stop.signal : AbortSignal.any([hooks.signal, stop.signal])
  const failures: unknown[] = []
  const serve = async (): Promise<void> => {
    try {
      for (let batch = queue.shift(); batch !== undefined; batch = queue.shift())
        await runBatch(batch, runJobs, { ...hooks, signal })
    } catch (thrown) {
      queue.length = 0
      failures.push(thrown)
      stop.abort(thrown)
    }
  }
  await Promise.all(Array.from({ length: lanes }, serve))
  hooks.signal?.throwIfAborted()
  if (failures.length > 0) throw failures[0]
}

/** Smaller pieces where there would be fewer than lanes. */
function cutBatch<Tag>({ open, jobs }: JobBatch<Tag>, lanes: number): readonly JobBatch<Tag>[] {
  const size = Math.min(MAX_BATCH, Math.ceil(jobs.length / lanes))
  return Array.from({ length: Math.ceil(jobs.length / size) }, (_, i) => ({
    open,
    jobs: jobs.slice(i * size, (i + 1) * size),
  }))
}

async function runBatch<Tag>(batch: JobBatch<Tag>, runJobs: JobRunner, hooks: LaneHooks<Tag>): Promise<void> {
  const dataset = await batch.open()
  let done = 0
  const current = (): (typeof batch.jobs)[number] => invariant(batch.jobs[done], 'a job is running')
  while (done < batch.jobs.length) {
    try {
      await runJobs(
        dataset,
        batch.jobs.slice(done).map(({ job }) => job),
        {
          signal: hooks.signal,
          onStep: (pairs) => {
            // The last steps of a job may be told after its result.
            const running = batch.jobs[done]
            if (running !== undefined) hooks.onStep?.(running.tag, pairs)
          },
          onResult(result) {
            hooks.onResult(current().tag, result, dataset)
            done += 1
          },
        },
      )
    } catch (thrown) {
      const error = toAppError(thrown)
      if (error.code !== 'output-not-finite') throw thrown
      hooks.onDiverged(current().tag, error)
      done += 1
    }
  }
}
