/**
 * The progress line of a command that runs many training jobs: samples done, time left, which job it is at.
 */
import type { CommandContext } from './command-context.ts'
import { type Progress, startProgress } from './progress.ts'

export interface JobProgress {
  readonly hooks: {
    onPlan(plan: { readonly jobs: number; readonly done: number; readonly pairs: number }): void
    onPairs(pairs: number): void
    onJobs(done: number): void
  }
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
