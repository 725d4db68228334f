/** The benchmark's side of a measuring process. */
import { type ChildProcess, fork } from 'node:child_process'
import { compiledEntry } from '../../models/package-root.ts'
import { AppError } from '../../src/errors.ts'
import { type Environment, trainingEnvironment } from '../worker-pool.ts'
import type { BenchResults, BenchTasks, TaskKind, TaskReply, TaskRequest } from './bench-record.ts'

export interface BenchProcess<Kind extends TaskKind> {
  run(): Promise<BenchResults[Kind]>
  close(): Promise<void>
}

export interface BenchContext {
  readonly environment: Environment
  readonly signal?: AbortSignal | undefined
}

/** @throws engine-unavailable for an engine that is not there, session-failed when it fails or dies, interrupted */
export async function startBenchProcess<Kind extends TaskKind>(
  kind: Kind,
  task: BenchTasks[Kind],
  { environment, signal }: BenchContext,
): Promise<BenchProcess<Kind>> {
  signal?.throwIfAborted()
  const child = fork(compiledEntry('training/bench/bench-main.js'), [], {
    serialization: 'advanced',
    execArgv: ['--expose-gc'],
    // TensorFlow.js greets on stdout, which is for data.
    stdio: ['ignore', 'ignore', 2, 'ipc'],
    env: { ...trainingEnvironment(environment) },
  })
  const kill = (): void => {
    child.kill('SIGKILL')
  }
  signal?.addEventListener('abort', kill, { once: true })
  const close = (): Promise<void> => {
    signal?.removeEventListener('abort', kill)
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    kill()
    return ended
  }
  const ask = async (request: TaskRequest): Promise<TaskReply> => {
    const reply = await exchange(child, request)
    signal?.throwIfAborted()
    if (reply.kind !== 'failed') return reply
    await close()
    const code = reply.code === 'engine-unavailable' ? reply.code : 'session-failed'
    throw new AppError(code, code === reply.code ? reply.message : `a measurement failed: ${reply.message}`)
  }
  await ask({ kind, task } as TaskRequest)
  return {
    async run() {
      const reply = await ask({ kind: 'run' })
      if (reply.kind !== 'ran') throw new AppError('invariant', `a measuring process answered ${reply.kind} to run`)
      return reply.result as BenchResults[Kind]
    },
    close,
  }
}

function exchange(child: ChildProcess, request: TaskRequest): Promise<TaskReply> {
  return new Promise((resolve) => {
    const settle = (reply: TaskReply): void => {
      child.off('message', onMessage).off('exit', onExit)
      resolve(reply)
    }
    const onMessage = (reply: unknown): void => settle(reply as TaskReply)
    const onExit = (code: number | null, by: string | null): void =>
      settle({ kind: 'failed', code: 'host-crashed', message: `its process ended (${by ?? `exit code ${code}`})` })
    child.on('message', onMessage).on('exit', onExit)
    child.send(request)
  })
}
