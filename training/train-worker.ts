/**
 * Entry of a training thread: takes one job after another from its parent. Started by worker-pool.ts only.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { Dataset } from '../data/store/dataset.ts'
import { AppError, invariant, toAppError } from '../src/errors.ts'
import { type TrainJob, trainRotation } from './train-rotation.ts'
import type { WorkerReply, WorkerRequest } from './worker-pool.ts'

const port = invariant(parentPort, 'train-worker runs as a worker thread')
const { dataset } = workerData as { readonly dataset: Dataset }
const reply = (message: WorkerReply): void => port.postMessage(message)

const abort = new AbortController()

port.on('message', (request: WorkerRequest) => {
  if (request.kind === 'close') port.close()
  else if (request.kind === 'stop') abort.abort(new AppError('interrupted', 'the training was stopped'))
  else runJob(request.job).catch((thrown: unknown) => port.emit('error', thrown))
})

async function runJob(job: TrainJob): Promise<void> {
  try {
    const result = await trainRotation(dataset, job, {
      signal: abort.signal,
      onStep: (pairs) => reply({ kind: 'step', pairs }),
      onEpoch: (record) => reply({ kind: 'epoch', record }),
    })
    reply({ kind: 'result', result })
  } catch (thrown) {
    const error = toAppError(thrown)
    reply({ kind: 'error', code: error.code, message: error.message, details: error.details })
  }
}
