/**
 * How a frozen LM is run: on which device, where its weights lie, how much memory it may take. Only `quantize`
 * and `precision` change what a vector means and are part of the representation; the rest changes last bits at most.
 * Structured-cloneable.
 */
import type { Device } from './port.ts'

export const DEVICES = ['cpu', 'cuda', 'webgpu'] as const satisfies readonly Device[]

/**
 * mmap      weights stay in their files and are mapped: processes share them through the page cache
 * resident  packed copies for the matrix product: faster in short runs, private to the process
 * auto      mmap for F32 files, resident for half precision (measured: docs/devices.md)
 */
export const WEIGHTS_MODES = ['auto', 'mmap', 'resident'] as const
export type WeightsMode = (typeof WEIGHTS_MODES)[number]

export const QUANTIZE_MODES = ['none', 'int8'] as const
export type QuantizeMode = (typeof QUANTIZE_MODES)[number]

/**
 * What linear maps multiply, and what keys and values are kept in. f16: on GPUs only, and another representation; norms,
 * scores, softmax, residual stream and recurrent states stay float32 (docs/devices.md has its measured error)
 */
export const PRECISIONS = ['f32', 'f16'] as const
export type Precision = (typeof PRECISIONS)[number]

export interface Execution {
  readonly device: Device
  readonly weights: WeightsMode
  /** Most bytes that may be resident in the process that owns the model; null for no limit. */
  readonly memoryBytes: number | null
  readonly quantize: QuantizeMode
  readonly precision: Precision
}

export const DEFAULT_EXECUTION: Execution = {
  device: 'cpu',
  weights: 'auto',
  memoryBytes: null,
  quantize: 'none',
  precision: 'f32',
}

/** What is left to say where a trained router has decided what its vectors are. */
export type ServedExecution = Omit<Execution, 'quantize' | 'precision'>

export function completeExecution(given: Partial<Execution> = {}): Execution {
  return { ...DEFAULT_EXECUTION, ...given }
}
