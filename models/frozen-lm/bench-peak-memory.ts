/**
 * Peak resident memory of one arm: it runs alone in a child process, which reads the high-water mark the kernel keeps
 * for it. In one process the arenas of an earlier arm would hide the peaks of later ones.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { AppError } from '../../src/errors.ts'
import { compiledEntry } from '../package-root.ts'
import { type ArmName, createSchedule, runArm, type ScheduleOptions } from './bench-arms.ts'
import { loadFrozenLm } from './load-frozen-lm.ts'

export interface PeakMemoryRequest {
  readonly directory: string
  readonly layer: number
  readonly arm: ArmName
  readonly schedule: ScheduleOptions
}

export interface PeakMemory {
  /** Highest resident size of the process, weights included. */
  readonly peakBytes: number
  /** Resident size once the model was loaded, before the first run. */
  readonly loadedBytes: number
}

/** @throws session-failed if the child fails */
export async function measurePeakMemory(request: PeakMemoryRequest, signal?: AbortSignal): Promise<PeakMemory> {
  const entry = compiledEntry('models/frozen-lm/bench-peak-main.js')
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [entry, JSON.stringify(request)], { signal })
    const [peakBytes = Number.NaN, loadedBytes = Number.NaN] = stdout.trim().split(' ').map(Number)
    return { peakBytes, loadedBytes }
  } catch (cause) {
    signal?.throwIfAborted()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('session-failed', `the memory measurement of arm ${request.arm} failed: ${reason}`, { cause })
  }
}

/** The child's side: runs the arm once. */
export async function runForPeakMemory(request: PeakMemoryRequest): Promise<PeakMemory> {
  const lm = await loadFrozenLm({ directory: request.directory, layer: request.layer })
  const loadedBytes = process.memoryUsage.rss()
  await runArm(request.arm, { lm, schedule: createSchedule(request.schedule, lm.info.vocabularySize) })
  await lm.close()
  return { peakBytes: highWaterBytes(), loadedBytes }
}

/** Linux: VmHWM, which starts at 0 with the program; getrusage would inherit the parent's mark. */
function highWaterBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const kibibytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return Number(kibibytes) * 1024
}
