/**
 * Opens a training engine by its exact name, and no other one in its place.
 */
import { AppError } from '../../src/errors.ts'
import type { BackendOptions, TrainerBackend } from './backend.ts'
import type { EngineName } from './engine-names.ts'
import { createOrtBackend } from './ort.ts'

/** @throws engine-unavailable naming what is missing, option-invalid (router too large), session-failed */
export async function openBackend(engine: EngineName, options: BackendOptions): Promise<TrainerBackend> {
  if (engine === 'ort-cpu') return createOrtBackend(options)
  throw new AppError('engine-unavailable', `training engine ${engine} is not there: use --backend ort-cpu`)
}
