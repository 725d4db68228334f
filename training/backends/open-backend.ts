/**
 * Opens a training engine by its exact name, and no other one in its place. Those on a GPU have passed the self-check
 * when they come back.
 */
import { AppError, toAppError } from '../../src/errors.ts'
import type { BackendOptions, TrainerBackend } from './backend.ts'
import { type EngineName, runsOnGpu } from './engine-names.ts'
import { loadTfjsNodeGpu, loadTfjsWasm, type TfjsRuntime } from './load-tfjs.ts'
import { missingForCuda } from './missing-for-cuda.ts'
import { createOrtBackend, type OrtProvider } from './ort.ts'
import { type OpenEngine, selfCheckEngine } from './self-check-engine.ts'
import { createTfjsBackend } from './tfjs.ts'

/** What this file knows of the machine; tests replace it. */
export interface EngineSeams {
  readonly missingForCuda: typeof missingForCuda
  readonly createOrt: (options: BackendOptions, provider: OrtProvider) => Promise<TrainerBackend>
  readonly loadTfjsWasm: () => Promise<TfjsRuntime>
  readonly loadTfjsNodeGpu: () => Promise<TfjsRuntime>
}

const MACHINE: EngineSeams = { missingForCuda, createOrt: createOrtBackend, loadTfjsWasm, loadTfjsNodeGpu }

/** @throws engine-unavailable naming what is missing or computed otherwise, option-invalid (router too large) */
export async function openBackend(
  engine: EngineName,
  options: BackendOptions,
  seams: EngineSeams = MACHINE,
): Promise<TrainerBackend> {
  const open = await opener(engine, seams)
  if (runsOnGpu(engine)) await selfCheckEngine({ engine, spec: options.spec, open })
  return open(options)
}

async function opener(engine: EngineName, seams: EngineSeams): Promise<OpenEngine> {
  switch (engine) {
    case 'ort-cpu':
      return (options) => seams.createOrt(options, 'cpu')
    case 'ort-cuda': {
      await requireCuda(seams)
      return (options) => createOnCuda(options, seams)
    }
    case 'tfjs-wasm': {
      const runtime = await seams.loadTfjsWasm()
      return async (options) => createTfjsBackend(runtime, options)
    }
    case 'tfjs-node-gpu': {
      const runtime = await seams.loadTfjsNodeGpu()
      return async (options) => createTfjsBackend(runtime, options)
    }
  }
}

/** The runtime drops a provider that it does not know without a word, and computes on the CPU. */
async function requireCuda(seams: EngineSeams): Promise<void> {
  const missing = await seams.missingForCuda()
  if (missing === null) return
  throw new AppError(
    'engine-unavailable',
    `training engine ort-cuda lacks ${missing.what}: ${missing.remedy} (\`keepready devices\` lists all that is missing); --backend ort-cpu always works`,
  )
}

async function createOnCuda(options: BackendOptions, seams: EngineSeams): Promise<TrainerBackend> {
  try {
    return await seams.createOrt(options, 'cuda')
  } catch (cause) {
    const error = toAppError(cause)
    if (error.code === 'option-invalid') throw error
    throw new AppError(
      'engine-unavailable',
      `training engine ort-cuda makes no session: ${error.message.split('\n', 1)[0]} (\`keepready devices\` says more); --backend ort-cpu always works`,
      { cause },
    )
  }
}
