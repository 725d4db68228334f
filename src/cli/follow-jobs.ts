/**
 * The progress line of a command that runs many training jobs: samples done, time left, which job it is at.
 */
import type { JobsHooks } from '../../training/sweep/track-jobs.ts'
import type { CommandContext } from './command-context.ts'
import { type Progress, startProgress } from './progress.ts'

export interface JobProgress {
  readonly hooks: JobsHooks
  done(figure: string): void
}

export function followJobs(context: CommandContext, stage: string): JobProgress {
  let line: Progress | null = null
  let pairsDone = 0
  let jobs = { done: 0, total: 0 }
  return {
    hooks: {
      onPlan(plan) {
        if (plan.done > 0) context.writeErr(`${stage}: ${plan.done} of ${plan.jobs} jobs are done already\n`)
        jobs = { done: plan.done, total: plan.jobs }
        line = startProgress(context, { stage, total: plan.pairs, unit: 'samples' })
      },
      onPairs(pairs) {
        pairsDone += pairs
        line?.update(pairsDone, `job ${Math.min(jobs.done + 1, jobs.total)} of ${jobs.total}`)
      },
      onJobs(done) {
        jobs = { ...jobs, done }
      },
    },
    done: (figure) => line?.done(figure),
  }
}
