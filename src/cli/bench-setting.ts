/** What a benchmark ran on: stands on its card and in its JSON line. */
import { cpus, loadavg, totalmem } from 'node:os'
import * as ort from 'onnxruntime-node'
import { invocationOf } from './invocation.ts'
import { packageVersion } from './package-version.ts'

export interface MachineSetting {
  readonly command: string
  readonly date: string
  readonly versions: string
  readonly machine: string
  /** Runnable processes per core before the start. */
  readonly loadPerCore: number
}

/** More runnable processes per core than this before the start: somebody else is at work. */
export const BUSY_LOAD = 0.5

/** Call it before the first measurement. */
export function machineSetting(): MachineSetting {
  const cores = cpus()
  const self = invocationOf(process.argv[1], process.cwd())
  return {
    command: `${self} ${process.argv.slice(2).join(' ')}`,
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    versions: `keepready ${packageVersion()}, onnxruntime-node ${ort.env.versions.node}, Node ${process.versions.node}`,
    machine: `${cores[0]?.model.trim() ?? 'unknown processor'}, ${cores.length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${process.platform} ${process.arch}`,
    loadPerCore: (loadavg()[0] ?? 0) / cores.length,
  }
}

/** The lines of a card that say it. */
export function machineLines({ command, machine, versions }: MachineSetting): readonly string[] {
  return [`  command   ${command}`, `  machine   ${machine}`, `  versions  ${versions}`]
}

export function busyLine({ loadPerCore }: MachineSetting, trust: string): readonly string[] {
  if (loadPerCore <= BUSY_LOAD) return []
  return [`  BUSY      ${loadPerCore.toFixed(1)} runnable processes per core before the start: ${trust}`]
}
