/**
 * From an execution to what onnxruntime is told: graph variant, provider and session options. Decides nothing about a
 * device being usable; the runtime's own traps are kept here (reference/frozen-lm.md, sections 1 and 7).
 */
import type { InferenceSession } from 'onnxruntime-node'
import { AppError } from '../../src/errors.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Execution, WeightsMode } from './execution.ts'
import { CPU_VARIANT, type GraphVariant } from './graph-variant.ts'
import type { Device } from './port.ts'
import { createInt8Quantiser } from './quantise.ts'

export interface SessionPlan {
  readonly device: Device
  readonly weights: Exclude<WeightsMode, 'auto'>
  readonly variant: GraphVariant
  readonly options: InferenceSession.SessionOptions
}

/** @throws option-invalid for a combination that is not implemented */
export function planSession(checkpoint: Checkpoint, execution: Execution): SessionPlan {
  const { device, quantize, precision } = execution
  const half = isHalfPrecision(checkpoint)
  const weights = resolveWeights(execution.weights, half)
  const folder = { model_external_initializers_file_folder_path: checkpoint.root }
  const common: InferenceSession.SessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 }
  if (device !== 'cpu') {
    if (quantize !== 'none')
      throw new AppError(
        'option-invalid',
        `--quantize ${quantize} runs on the device cpu only, not on ${device}: leave one of the two out`,
      )
    return {
      device,
      weights: 'resident',
      variant: { ...CPU_VARIANT, operators: 'plain', precision },
      options: {
        ...common,
        executionProviders: [device],
        // An operator that the device lacks is an error, not a part of the model that runs on the CPU unnoticed.
        extra: { session: { ...folder, disable_cpu_ep_fallback: '1' } },
      },
    }
  }
  if (precision !== 'f32')
    throw new AppError(
      'option-invalid',
      `--precision ${precision} is for --device cuda and webgpu: this device cpu has no ${precision} kernels and would only convert; leave it out, or read half-precision weights with --weights mmap to save memory`,
    )
  const quantise = quantize === 'int8' ? createInt8Quantiser() : null
  const mapped = weights === 'mmap'
  return {
    device,
    weights,
    variant: { ...CPU_VARIANT, widen: mapped && half ? 'at-run' : 'at-load', quantise },
    options: {
      ...common,
      executionProviders: ['cpu'],
      extra: {
        session: { ...folder, ...(mapped ? { disable_prepacking: '1' } : {}) },
        // Folding would widen every matrix at load.
        ...(mapped && half ? { optimization: { disable_specified_optimizers: 'ConstantFolding' } } : {}),
      },
    },
  }
}

export function isHalfPrecision(checkpoint: Checkpoint): boolean {
  return [...checkpoint.tensors.values()].some((tensor) => tensor.dtype !== 'F32')
}

/** Whether the files are F32 decides, never the memory that is free: equal options give equal bits everywhere. */
export function resolveWeights(mode: WeightsMode, halfPrecision: boolean): Exclude<WeightsMode, 'auto'> {
  if (mode !== 'auto') return mode
  return halfPrecision ? 'resident' : 'mmap'
}
