/** The options that say how a frozen LM is run, the same in every command that runs one. */
import { type Command, Option } from 'commander'
import {
  DEVICES,
  type Execution,
  PRECISIONS,
  type Precision,
  QUANTIZE_MODES,
  type QuantizeMode,
  WEIGHTS_MODES,
  type WeightsMode,
} from '../../models/frozen-lm/execution.ts'
import type { Device } from '../../models/frozen-lm/port.ts'
import { wholeNumberParser } from './whole-number.ts'

export interface ExecutionFlags {
  readonly device?: Device
  readonly weights?: WeightsMode
  readonly memoryMb?: number
}

/** What changes the vectors. */
export interface VectorFlags {
  readonly quantize?: QuantizeMode
  readonly precision?: Precision
}

export function deviceOption(): Option {
  return new Option('--device <name>', 'what the model runs on; never replaced silently (see keepready devices)')
    .choices(DEVICES)
    .default('cpu')
}

export function weightsOption(): Option {
  return new Option(
    '--weights <how>',
    'mmap: mapped from their files, shared between processes; resident: packed copies; auto: mmap for F32 files',
  )
    .choices(WEIGHTS_MODES)
    .default('auto')
}

export function withExecutionOptions(command: Command): Command {
  return command
    .addOption(deviceOption())
    .addOption(weightsOption())
    .option(
      '--memory-mb <n>',
      'most MB resident in each model process: runs are cut to fit (same result), or it is refused',
      wholeNumberParser(1),
    )
}

/** Where the user decides; a trained router has decided already. */
export function withVectorOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--quantize <how>', 'int8: integer matrix products; faster, and other vectors (docs/devices.md)')
        .choices(QUANTIZE_MODES)
        .default('none'),
    )
    .addOption(
      new Option('--precision <dtype>', 'f16: on cuda and webgpu, half the memory, and other vectors (docs/devices.md)')
        .choices(PRECISIONS)
        .default('f32'),
    )
}

/** Only what was given: the defaults are the model's. */
export function executionOf(flags: ExecutionFlags & VectorFlags): Partial<Execution> {
  const { device, weights, memoryMb, quantize, precision } = flags
  return {
    ...(device === undefined ? {} : { device }),
    ...(weights === undefined ? {} : { weights }),
    ...(memoryMb === undefined ? {} : { memoryBytes: memoryMb * 1e6 }),
    ...(quantize === undefined ? {} : { quantize }),
    ...(precision === undefined ? {} : { precision }),
  }
}
