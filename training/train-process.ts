/**
 * Entry of a training process: takes a dataset, then one job after another from its parent. Started by worker-pool.ts
 * only, and gone when its parent is.
 */
import type { Dataset } from '../data/store/dataset.ts'
import { AppError, invariant, toAppError } from '../src/errors.ts'
import { type TrainJob, trainRotation } from './train-rotation.ts'
import type { WorkerReply, WorkerRequest } from './worker-pool.ts'

/** A step of a small job takes under a millisecond: a message for each would cost more than the step. */
const STEP_REPLY_MS = 100

const send = invariant(process.send, 'train-process is started with an IPC channel').bind(process)
const reply = (message: WorkerReply): void => {
  send(message)
}
const abort = new AbortController()
const stop = (): void => abort.abort(new AppError('interrupted', 'the training was stopped'))
let dataset: Dataset | null = null

process.on('message', (message) => {
  const request = message as WorkerRequest
  if (request.kind === 'open') dataset = request.dataset
  else if (request.kind === 'close') process.disconnect()
  else if (request.kind === 'stop') stop()
  else void runJob(request.job)
})
// The parent is gone: end after the current step, and write nothing more.
process.on('disconnect', stop)
// Ctrl-C reaches the whole process group; the parent decides when this process ends.
process.on('SIGINT', () => undefined)

async function runJob(job: TrainJob): Promise<void> {
  const steps = collectSteps()
  try {
    const result = await trainRotation(invariant(dataset, 'a dataset was opened'), job, {
      signal: abort.signal,
      onStep: steps.add,
      onEpoch: (record) => {
        steps.flush()
        reply({ kind: 'epoch', record })
      },
    })
    // Parameters of a kept job are on disk already: a hundred megabytes need not go through the pipe.
    reply(job.keep === undefined ? { kind: 'result', result } : { kind: 'kept' })
  } catch (thrown) {
    if (!process.connected) return
    const error = toAppError(thrown)
    reply({ kind: 'error', code: error.code, message: error.message, details: error.details })
  }
}

/** Steps since the last reply: their pairs, and their mean loss. */
function collectSteps(): { add(pairs: number, lossNats: number): void; flush(): void } {
  let [pairs, loss, steps, sentAtMs] = [0, 0, 0, performance.now()]
  const flush = (): void => {
    if (steps > 0) reply({ kind: 'step', pairs, lossNats: loss / steps })
    ;[pairs, loss, steps, sentAtMs] = [0, 0, 0, performance.now()]
  }
  return {
    add(count, lossNats) {
      pairs += count
      loss += lossNats
      steps += 1
      if (performance.now() - sentAtMs >= STEP_REPLY_MS) flush()
    },
    flush,
  }
}
