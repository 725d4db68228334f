/**
 * Loads TensorFlow.js, which is an optional package, when somebody asks for it. An engine is what its name says or an
 * error: tfjs-node-gpu whose CUDA libraries do not load computes on the CPU without a word, and is refused here.
 */
import { createRequire } from 'node:module'
import { AppError } from '../../src/errors.ts'
import type { Tf } from './tfjs-router.ts'

export const TFJS_VERSION = '4.22.0'

export interface TfjsRuntime {
  readonly engine: 'tfjs-wasm' | 'tfjs-node-gpu'
  /** What the library calls it. */
  readonly backend: 'wasm' | 'tensorflow'
  readonly tf: Tf
  readonly version: string
  /** The same input gives the same bits. */
  readonly deterministic: boolean
  /** Most bytes that it can hold; null where the device decides. */
  readonly memoryBytes: number | null
}

/** What this file knows of Node; tests replace it. */
export interface TfjsSeams {
  readonly importPackage: (name: string) => Promise<unknown>
  /** The CommonJS object of node:util, which packages see. */
  readonly util: Record<string, unknown>
}

const NODE: TfjsSeams = {
  importPackage: (name) => import(name),
  util: createRequire(import.meta.url)('node:util') as Record<string, unknown>,
}

/** Of the module as it is built: 65,536 pages. */
const WASM_MEMORY_BYTES = 2 ** 32

/** @throws engine-unavailable */
export async function loadTfjsWasm(seams: TfjsSeams = NODE): Promise<TfjsRuntime> {
  const engine = 'tfjs-wasm'
  const packages = ['@tensorflow/tfjs', '@tensorflow/tfjs-backend-wasm'] as const
  const tf = await importTfjs({ engine, name: packages[0], packages, seams })
  await importTfjs({ engine, name: packages[1], packages, seams })
  if (!(await tf.setBackend('wasm')))
    throw new AppError(
      'engine-unavailable',
      `training engine ${engine}: the wasm backend of @tensorflow/tfjs ${tf.version_core} did not start; both packages must have the same version (${installCommand(packages)})`,
    )
  return {
    engine,
    backend: 'wasm',
    tf,
    version: tf.version_core,
    // One thread: the package's own multi-threading is off in Node.
    deterministic: true,
    memoryBytes: WASM_MEMORY_BYTES,
  }
}

/** @throws engine-unavailable if it is not installed, does not load, or is not on a GPU */
export async function loadTfjsNodeGpu(seams: TfjsSeams = NODE): Promise<TfjsRuntime> {
  const engine = 'tfjs-node-gpu'
  const packages = ['@tensorflow/tfjs-node-gpu'] as const
  restoreUtil(seams.util)
  const tf = await importTfjs({ engine, name: packages[0], packages, seams })
  if (!(await tf.setBackend('tensorflow')) || !isOnGpu(tf.backend()))
    throw new AppError(
      'engine-unavailable',
      `training engine ${engine} is installed and computes on the CPU: TensorFlow lists no GPU device. It wants an NVIDIA driver, CUDA 11.2 and cuDNN 8.1 on the library path (Dockerfile.cuda, target train-gpu); --backend ort-cpu always works`,
    )
  return { engine, backend: 'tensorflow', tf, version: tf.version_core, deterministic: false, memoryBytes: null }
}

/** TensorFlow's own list of devices, as the backend object of tfjs-node keeps it. */
function isOnGpu(backend: object): boolean {
  return 'isUsingGpuDevice' in backend && backend.isUsingGpuDevice === true
}

/** tfjs-node 4.22 calls two functions that Node 23 removed (tensorflow/tfjs#8425, fixed there and not released). */
function restoreUtil(util: Record<string, unknown>): void {
  util.isNullOrUndefined ??= (value: unknown): boolean => value === null || value === undefined
  util.isArray ??= Array.isArray
}

async function importTfjs(wanted: {
  readonly engine: TfjsRuntime['engine']
  readonly name: string
  /** All that the engine needs. */
  readonly packages: readonly string[]
  readonly seams: TfjsSeams
}): Promise<Tf> {
  const { engine, name, packages, seams } = wanted
  try {
    const module = (await seams.importPackage(name)) as Tf & { readonly default?: Tf }
    return module.default ?? module
  } catch (cause) {
    const said = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause)
    throw new AppError(
      'engine-unavailable',
      `training engine ${engine}: ${name} does not load (${said}): ${installCommand(packages)}, or use --backend ort-cpu`,
      { cause },
    )
  }
}

export function installCommand(packages: readonly string[]): string {
  return `npm install ${packages.map((name) => `${name}@${TFJS_VERSION}`).join(' ')}`
}
