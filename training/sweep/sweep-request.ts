/**
 * What a sweep is asked to do.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import type { EngineName } from '../backends/engine-names.ts'
import type { TrainEnvironment } from '../resume/job-key.ts'
import type { JobRunner } from '../worker-pool.ts'
import type { Journal } from './journal.ts'
import type { DatasetSummary } from './same-data.ts'
import type { SweepConfiguration } from './search-space.ts'

export interface SweepRequest {
  /** Checked to be the same data (same-data.ts). */
  readonly datasets: readonly DatasetSummary[]
  /** Reads dataset `number` from where it lies. */
  readonly read: (number: number) => Promise<Dataset>
  readonly search: 'grid' | 'random'
  readonly configurations: readonly SweepConfiguration[]
  /** Of rotations and bootstrap; training has the seed of its configuration. */
  readonly seed: number
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
