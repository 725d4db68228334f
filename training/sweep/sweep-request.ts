/**
 * What a sweep is asked to do.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import type { ManyJobs } from './many-jobs.ts'
import type { DatasetSummary } from './same-data.ts'
import type { SweepConfiguration } from './search-space.ts'

export interface SweepRequest extends ManyJobs {
  /** Checked to be the same data (same-data.ts). */
  readonly datasets: readonly DatasetSummary[]
  /** Reads dataset `number` from where it lies. */
  readonly read: (number: number) => Promise<Dataset>
  readonly search: 'grid' | 'random'
  readonly configurations: readonly SweepConfiguration[]
  /** Of rotations and bootstrap; training has the seed of its configuration. */
  readonly seed: number
}
