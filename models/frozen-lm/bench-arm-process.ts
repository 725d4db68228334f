/** The benchmark's side of one arm: its process, its runs one at a time, and its memory while they last. */
import { type ChildProcess, fork } from 'node:child_process'
import { AppError } from '../../src/errors.ts'
import { compiledEntry } from '../package-root.ts'
import { type ProcessMemory, readGpuMemory, readProcessMemory, watchMemory } from './bench-memory.ts'
import type { ArmReply, ArmRequest, OpenedArm, OwnArmSpec, PeerArmSpec, RanArm } from './bench-protocol.ts'

export interface ArmMemory {
  /** With the model loaded, before long runs. */
  readonly loadedBytes: number
  /** Highest resident size since then, by the kernel; of the whole life of a peer's process. */
  readonly peakBytes: number
  /** Split of the largest sample. */
  readonly anonymousBytes: number
  readonly fileBytes: number
  readonly stateBytes: number
  /** peak - loaded - state: what the runs need beside weights and keys and values; never below 0. */
  readonly workspaceBytes: number
  readonly gpuBytes: number | null
}

export interface ArmProcess {
  readonly opened: OpenedArm
  run(): Promise<RanArm>
  /** Null where the kernel does not tell. */
  memory(): Promise<ArmMemory | null>
  close(): Promise<void>
}

/** @returns the arm of ours that the spec describes, loaded and warm */
export function startOwnArm(spec: OwnArmSpec, signal?: AbortSignal): Promise<ArmProcess> {
  return startArm(compiledEntry('models/frozen-lm/bench-arm-main.js'), spec, signal)
}

/** @throws session-failed if the process fails or dies; interrupted */
export async function startArm(
  script: string,
  spec: OwnArmSpec | PeerArmSpec,
  signal?: AbortSignal,
): Promise<ArmProcess> {
  signal?.throwIfAborted()
  // What a peer prints is kept for its error message and out of our output.
  const child = fork(script, { serialization: 'advanced', stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  const printed: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(String(chunk)))
  const pid = child.pid ?? 0
  let largest: ProcessMemory | null = null
  let gpuBytes: number | null = null

  const ask = async (request: ArmRequest): Promise<Exclude<ArmReply, { kind: 'failed' }>> => {
    const watch = watchMemory(pid)
    try {
      const reply = await exchange(child, request, signal)
      if (reply.kind === 'failed') throw new Error(reply.message)
      return reply
    } catch (cause) {
      child.kill('SIGKILL')
      signal?.throwIfAborted()
      const tail = printed.join('').trim().slice(-400)
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new AppError('session-failed', `a benchmark arm failed: ${reason}${tail === '' ? '' : ` (${tail})`}`, {
        cause,
      })
    } finally {
      watch.stop()
      const seen = watch.largest()
      // Loading may be larger for a moment; the split is of what runs need.
      if (request.kind === 'run' && seen !== null && seen.residentBytes > (largest?.residentBytes ?? 0)) largest = seen
    }
  }
  const opened = await ask({ kind: 'open', spec })
  if (opened.kind !== 'opened') throw new AppError('invariant', `an arm answered ${opened.kind} to open`)
  return {
    opened,
    async run() {
      const reply = await ask({ kind: 'run' })
      if (reply.kind !== 'ran') throw new AppError('invariant', `an arm answered ${reply.kind} to run`)
      gpuBytes = (await readGpuMemory(pid)) ?? gpuBytes
      return reply
    },
    async memory() {
      const now = readProcessMemory(pid)
      if (now === null || largest === null) return null
      const { loadedBytes, stateBytes } = opened
      const workspaceBytes = Math.max(0, now.peakBytes - loadedBytes - stateBytes)
      const { anonymousBytes, fileBytes } = largest
      return { loadedBytes, peakBytes: now.peakBytes, anonymousBytes, fileBytes, stateBytes, workspaceBytes, gpuBytes }
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.send({ kind: 'close' } satisfies ArmRequest)
      await ended
    },
  }
}

function exchange(child: ChildProcess, request: ArmRequest, signal: AbortSignal | undefined): Promise<ArmReply> {
  return new Promise((resolve, reject) => {
    const onMessage = (reply: unknown): void => finish(() => resolve(reply as ArmReply))
    const onExit = (code: number | null, by: string | null): void =>
      finish(() => reject(new Error(`its process ended (${by ?? `exit code ${code}`})`)))
    const onError = (error: Error): void => finish(() => reject(error))
    const onAbort = (): void => finish(() => reject(new Error('aborted')))
    const finish = (settle: () => void): void => {
      child.off('message', onMessage).off('exit', onExit).off('error', onError)
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    child.on('message', onMessage).on('exit', onExit).on('error', onError)
    signal?.addEventListener('abort', onAbort, { once: true })
    child.send(request)
  })
}
