/**
 * Opens a model on a device, and on no other one: the runtime itself would drop a provider that it does not know and
 * compute on the CPU (reference/frozen-lm.md, section 7).
 */
import { existsSync } from 'node:fs'
import { AppError, toAppError } from '../../../src/errors.ts'
import type { Checkpoint } from '../checkpoint.ts'
import type { Execution } from '../execution.ts'
import type { Device, FrozenLm } from '../port.ts'
import { createSession } from '../session.ts'
import { planSession } from '../session-plan.ts'
import { CUDA_PROVIDERS } from './device-report.ts'
import { runtimeBackends, runtimeFolder } from './runtime.ts'
import { type OpenOn, type SelfCheck, selfCheckDevice } from './self-check.ts'

/** What this file knows of the machine; tests replace it. */
export interface DeviceSeams {
  readonly backends: () => readonly string[]
  readonly fileExists: (path: string) => boolean
  readonly runtimeFolder: string
  /** Makes a session; throws session-failed. */
  readonly open: (checkpoint: Checkpoint, layer: number, execution: Execution) => Promise<FrozenLm>
}

export const MACHINE: DeviceSeams = {
  backends: runtimeBackends,
  fileExists: existsSync,
  runtimeFolder: runtimeFolder(),
  open: (checkpoint, layer, execution) => createSession(checkpoint, layer, planSession(checkpoint, execution)),
}

/**
 * @returns a session on `execution.device`; on any but the CPU after the self-check has passed
 * @throws device-unavailable, device-self-check-failed, session-failed
 */
export async function openOnDevice(
  model: { readonly checkpoint: Checkpoint; readonly layer: number; readonly execution: Execution },
  seams: DeviceSeams = MACHINE,
): Promise<FrozenLm> {
  const { checkpoint, layer, execution } = model
  const { device } = execution
  if (device === 'cpu') return seams.open(checkpoint, layer, execution)
  requireRuntime(device, seams)
  const selfCheck = await checked(model, seams)
  const lm = await seams.open(checkpoint, layer, execution)
  return { ...lm, info: { ...lm.info, selfCheck } }
}

async function checked(model: Parameters<typeof openOnDevice>[0], seams: DeviceSeams): Promise<SelfCheck> {
  const { checkpoint, layer, execution } = model
  const { device, precision } = execution
  const open: OpenOn = (on, small, layers) =>
    seams.open(small, layers, {
      ...execution,
      device: on,
      weights: 'auto',
      precision: on === 'cpu' ? 'f32' : precision,
    })
  try {
    return await selfCheckDevice({ device, precision, model: { config: checkpoint.config, layer }, open })
  } catch (thrown) {
    throw unavailable(device, thrown)
  }
}

/** @throws device-unavailable: what can be known without a session */
function requireRuntime(device: Device, seams: DeviceSeams): void {
  const backends = seams.backends()
  if (!backends.includes(device))
    throw new AppError(
      'device-unavailable',
      `device ${device} is not in this build of the runtime, which has ${backends.join(', ')}: use one of them (nothing falls back silently)`,
      { details: { device } },
    )
  const missing =
    device === 'cuda' ? CUDA_PROVIDERS.filter((name) => !seams.fileExists(seams.runtimeFolder + name)) : []
  if (missing.length > 0)
    throw new AppError(
      'device-unavailable',
      `device cuda needs ${missing.join(' and ')} in ${seams.runtimeFolder}, the package does not bring them: run \`keepready devices\`, which says how to get them, or use --device cpu (nothing falls back silently)`,
      { details: { device } },
    )
}

/** A session that cannot be made means that the device cannot be used; a wrong result keeps its own name. */
function unavailable(device: Device, thrown: unknown): AppError {
  const error = toAppError(thrown)
  if (error.code !== 'session-failed') return error
  const lacks = /assigned to the default CPU EP/.test(error.message)
  const hasNoHalf = /requires f16 but the device does not support it/.test(error.message)
  const why = lacks
    ? `device ${device} lacks an operator that this architecture needs (experts and delta nets run on the CPU only)`
    : hasNoHalf
      ? `device ${device} has no float16 (shader-f16): leave out --precision f16`
      : `device ${device} cannot be used: ${error.message}`
  return new AppError(
    'device-unavailable',
    `${why}; \`keepready devices\` says what is missing, --device cpu always works (nothing falls back silently)`,
    { details: { device }, cause: thrown },
  )
}
