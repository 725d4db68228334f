/**
 * Memory of a process as the kernel counts it. Linux: /proc; elsewhere only the resident size of this process is known.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

export interface ProcessMemory {
  /** Now. */
  readonly residentBytes: number
  /** Highest since the start or since resetPeak. */
  readonly peakBytes: number
  /** Private to the process: heap, arenas, copies of weights. */
  readonly anonymousBytes: number
  /** Mapped files: shared with other processes through the page cache. */
  readonly fileBytes: number
}

/** @returns null where the kernel does not say, or the process is gone */
export function readProcessMemory(pid: number): ProcessMemory | null {
  try {
    return parseStatus(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    // Another system, or a process that has ended: nothing to report.
    return null
  }
}

/** @param text of /proc/PID/status; sizes stand there in units of 1,024 bytes */
export function parseStatus(text: string): ProcessMemory | null {
  const bytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024
  const memory = {
    residentBytes: bytes('VmRSS'),
    peakBytes: bytes('VmHWM'),
    anonymousBytes: bytes('RssAnon'),
    fileBytes: bytes('RssFile') + (bytes('RssShmem') || 0),
  }
  return Object.values(memory).every(Number.isFinite) ? memory : null
}

/** Makes the peak of this process start again from its present size. @returns whether the kernel did so */
export function resetPeak(): boolean {
  try {
    // proc(5): 5 resets the peak resident set size.
    writeFileSync('/proc/self/clear_refs', '5')
    return true
  } catch {
    return false
  }
}

/** How often a running arm is looked at; its peak is the kernel's own, only the split at the peak is sampled. */
const SAMPLE_MS = 20

export interface MemoryWatch {
  /** The largest sample so far; null if there was none. */
  readonly largest: () => ProcessMemory | null
  readonly stop: () => void
}

export function watchMemory(pid: number): MemoryWatch {
  let largest: ProcessMemory | null = null
  const look = (): void => {
    const memory = readProcessMemory(pid)
    if (memory !== null && memory.residentBytes > (largest?.residentBytes ?? 0)) largest = memory
  }
  look()
  const timer = setInterval(look, SAMPLE_MS)
  return {
    largest: () => largest,
    stop: () => {
      look()
      clearInterval(timer)
    },
  }
}

/** @returns bytes that a process holds on NVIDIA GPUs; null where there is none or it holds nothing */
export async function readGpuMemory(pid: number): Promise<number | null> {
  try {
    const query = ['--query-compute-apps=pid,used_memory', '--format=csv,noheader,nounits']
    const { stdout } = await promisify(execFile)('nvidia-smi', query)
    return parseGpuMemory(stdout, pid)
  } catch {
    // No driver on this machine.
    return null
  }
}

/** @param text lines `pid, MiB` */
export function parseGpuMemory(text: string, pid: number): number | null {
  const own = text
    .split('\n')
    .map((line) => line.split(',').map(Number))
    .filter(([owner]) => owner === pid)
  return own.length === 0 ? null : own.reduce((sum, [, mebibytes = 0]) => sum + mebibytes, 0) * 2 ** 20
}
