/** What a sweep and a study are given to train their jobs with. */
import type { EngineName } from '../backends/engine-names.ts'
import type { TrainEnvironment } from '../resume/job-key.ts'
import type { JobRunner } from '../worker-pool.ts'
import type { Journal } from './journal.ts'

export interface ManyJobs {
  readonly resamples: number
  readonly journal: Journal
  /** Jobs at a time; the result does not depend on it. */
  readonly lanes: number
  /** Runs the jobs of one call in order, one at a time. */
  readonly runJobs: JobRunner
  readonly backend: EngineName
  readonly environment: TrainEnvironment
  readonly signal?: AbortSignal | undefined
}
