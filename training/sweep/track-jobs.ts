/**
 * Progress over many training jobs, told in pairs: a job that stops early counts its whole share, so that what is left is
 * not overestimated for good.
 */
export interface JobsHooks {
  /** @param plan.pairs an upper bound of what the jobs not in the journal train on */
  readonly onPlan?: (plan: { readonly jobs: number; readonly done: number; readonly pairs: number }) => void
  readonly onPairs?: (pairs: number) => void
  readonly onJobs?: (done: number) => void
}

export interface JobTracker<Job> {
  step(job: Job, pairs: number): void
  end(job: Job): void
}

/** @param done jobs that need not run */
export function trackJobs<Job extends { readonly pairs: number }>(done: number, hooks: JobsHooks): JobTracker<Job> {
  const told = new Map<Job, number>()
  let ended = done
  return {
    step(job, pairs) {
      told.set(job, (told.get(job) ?? 0) + pairs)
      hooks.onPairs?.(pairs)
    },
    end(job) {
      ended += 1
      hooks.onPairs?.(Math.max(0, job.pairs - (told.get(job) ?? 0)))
      hooks.onJobs?.(ended)
    },
  }
}
