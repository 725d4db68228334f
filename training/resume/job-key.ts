/**
 * What a training job's result depends on, as one hash: work is only gone on with under the same key. Pure.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { VECTORS_FILE } from '../../data/store/layout.ts'
import type { TrainJob } from '../train-rotation.ts'
import { hashValue } from './hash-value.ts'

/** What was computed with: other code or another runtime may round otherwise. */
export interface TrainEnvironment {
  /** `sourceVersion()` and the Node version. */
  readonly source: string
  readonly node: string
}

/**
 * Hash of everything that training reads of a dataset. Of vectors in a file its SHA-256 in the manifest counts: they are
 * not read here.
 */
export function datasetKey({ trajectories, pairs, vectors, manifest }: Dataset): string {
  const { representationId, files } = manifest
  const table =
    vectors.kind === 'memory' ? vectors : { rows: vectors.rows, cols: vectors.cols, sha256: files[VECTORS_FILE] }
  return hashValue({ representationId, trajectories, pairs, table })
}

/** @returns 32 hex digits: also the name of the job's folder */
export function jobKey(dataset: string, job: TrainJob, environment: TrainEnvironment): string {
  const { keep: _, ...deciding } = job
  return hashValue({ dataset, job: deciding, environment }).slice(0, 32)
}
