/** Entry of a measuring process: opens one task, then runs it as often as it is asked to. Started by bench-process.ts. */
import { invariant, toAppError } from '../../src/errors.ts'
import type { BenchResults, TaskKind, TaskReply, TaskRequest } from './bench-record.ts'
import { openJobTask } from './job-task.ts'
import { openMemoryTask, openMetricsTask, openScoringTask } from './other-tasks.ts'
import { openStepTask } from './step-task.ts'

type Run = () => Promise<BenchResults[TaskKind]>

const send = invariant(process.send, 'bench-main is started with an IPC channel').bind(process)
const reply = (message: TaskReply): void => {
  send(message)
}
let run: Run | null = null

process.on('message', (message) => {
  void answer(message as TaskRequest)
})
process.on('disconnect', () => process.exit(0))

async function answer(request: TaskRequest): Promise<void> {
  try {
    if (request.kind === 'run') reply({ kind: 'ran', result: await invariant(run, 'a task was opened')() })
    else {
      run = await open(request)
      reply({ kind: 'opened' })
    }
  } catch (thrown) {
    const { code, message } = toAppError(thrown)
    reply({ kind: 'failed', code, message })
  }
}

function open(request: Exclude<TaskRequest, { kind: 'run' }>): Promise<Run> {
  switch (request.kind) {
    case 'step':
      return openStepTask(request.task)
    case 'job':
      return openJobTask(request.task)
    case 'scoring':
      return openScoringTask(request.task)
    case 'memory':
      return openMemoryTask(request.task)
    case 'metrics':
      return openMetricsTask(request.task)
  }
}
