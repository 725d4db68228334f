/**
 * Asks this machine whether an engine is there. GPU engines are tried in a child process: a driver that aborts takes
 * nothing else with it, and its libraries are not loaded twice.
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { compiledEntry } from '../../models/package-root.ts'
import type { EngineName } from './engine-names.ts'
import { installCommand } from './load-tfjs.ts'
import { missingForCuda } from './missing-for-cuda.ts'

export type EngineVerdict =
  | { readonly ok: true }
  /** @property lacks  a few words; @property remedy  what to do about it */
  | { readonly ok: false; readonly lacks: string; readonly remedy: string }

export interface EngineProber {
  /** Never rejects: what went wrong is the verdict. */
  probe(engine: EngineName): Promise<EngineVerdict>
}

/** A driver may take its time to load; a hung one must not hang the command. */
const TRIAL_MS = 120_000

const TFJS_PACKAGES = {
  'tfjs-wasm': ['@tensorflow/tfjs', '@tensorflow/tfjs-backend-wasm'],
  'tfjs-node-gpu': ['@tensorflow/tfjs-node-gpu'],
} as const

/** What this file knows of the machine; tests replace it. */
export interface ProberSeams {
  readonly isInstalled: (name: string) => boolean
  readonly missingForCuda: typeof missingForCuda
  /** Opens the engine elsewhere. */
  readonly tryEngine: (engine: EngineName) => Promise<EngineVerdict>
}

const MACHINE: ProberSeams = { isInstalled, missingForCuda, tryEngine: tryInChildProcess }

export function createEngineProber(seams: ProberSeams = MACHINE): EngineProber {
  return {
    async probe(engine) {
      if (engine === 'ort-cpu') return { ok: true }
      if (engine === 'ort-cuda') {
        const missing = await seams.missingForCuda()
        if (missing !== null) return { ok: false, lacks: missing.what, remedy: missing.remedy }
        return seams.tryEngine(engine)
      }
      const packages = TFJS_PACKAGES[engine]
      const absent = packages.filter((name) => !seams.isInstalled(name))
      if (absent.length > 0) return { ok: false, lacks: absent.join(' and '), remedy: installCommand(packages) }
      return engine === 'tfjs-wasm' ? { ok: true } : seams.tryEngine(engine)
    },
  }
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}

/** @param entry compiled; it prints a verdict as its last line */
export async function tryInChildProcess(
  engine: EngineName,
  entry: string = compiledEntry('training/backends/engine-trial-main.js'),
): Promise<EngineVerdict> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [entry, engine], { timeout: TRIAL_MS })
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as EngineVerdict
  } catch (thrown) {
    const { signal, stderr } = thrown as { readonly signal?: string | null; readonly stderr?: string }
    const how = signal ? `signal ${signal}` : 'an error'
    const last = stderr?.trim().split('\n').at(-1) ?? String(thrown)
    return failedTrial(`the process that opened it ended with ${how}: ${last}`)
  }
}

/** The reason is part of what it lacks, so that `auto` prints it when it goes on to another engine. */
export function failedTrial(reason: string): EngineVerdict {
  return {
    ok: false,
    lacks: `a successful trial (${reason.replace(/\s+/g, ' ').trim()})`,
    remedy: 'docs/training.md, section Engines, says what it wants',
  }
}
