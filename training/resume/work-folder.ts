/**
 * Where an unfinished training keeps its jobs: `.training` in the artefact's directory, one folder per job, named by the
 * job's key. Other data, options or code make other keys, so nothing is gone on with that would end differently.
 */
import { join } from 'node:path'
import type { Dataset } from '../../data/store/dataset.ts'
import { nodeFiles } from '../../data/store/file-seam.ts'
import type { TrainJob } from '../train-rotation.ts'
import { isFinishedJob } from './finished-job.ts'
import { datasetKey, jobKey, type TrainEnvironment } from './job-key.ts'
import { lastKeptEpoch } from './loop-state-file.ts'

export const WORK_FOLDER = '.training'

/** A small job ends before it has anything worth keeping; at paper size an epoch takes a minute or two. */
const KEEP_EVERY_MS = 2000

export interface WorkFolder {
  /** The same job with a folder of its own. */
  keeping(job: TrainJob): TrainJob
  /** Epochs that an earlier run has done; `all` once the job has finished. */
  epochsDone(job: TrainJob): number | 'all'
  /** Everything in it, of this training and of others. */
  remove(): Promise<void>
}

/** @param options.fresh forget what earlier runs left; the artefact itself stays */
export async function openWorkFolder(options: {
  readonly out: string
  readonly dataset: Dataset
  readonly environment: TrainEnvironment
  readonly fresh: boolean
  /** Left out: every two seconds at most. */
  readonly keepEveryMs?: number | undefined
}): Promise<WorkFolder> {
  const { out, dataset, environment, fresh, keepEveryMs = KEEP_EVERY_MS } = options
  const folder = join(out, WORK_FOLDER)
  const remove = (): Promise<void> => nodeFiles.remove(folder)
  if (fresh) await remove()
  const key = datasetKey(dataset)
  const folderOf = (job: TrainJob): string => join(folder, jobKey(key, job, environment))
  return {
    keeping: (job) => ({ ...job, keep: { directory: folderOf(job), everyMs: keepEveryMs } }),
    epochsDone: (job) => (isFinishedJob(folderOf(job)) ? 'all' : (lastKeptEpoch(folderOf(job)) ?? 0)),
    remove,
  }
}
