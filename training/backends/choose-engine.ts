/**
 * Which engine a choice means on this machine. A name means itself or fails; only a family and `auto` look around.
 */
import { AppError } from '../../src/errors.ts'
import type { EngineChoice, EngineName } from './engine-names.ts'

export interface ChosenEngine {
  readonly name: EngineName
  /** For people: why this one. */
  readonly because: string
}

/** @throws engine-unavailable if a name was given that is not there */
export async function chooseEngine(choice: EngineChoice): Promise<ChosenEngine> {
  if (choice === 'auto' || choice === 'ort') return { name: 'ort-cpu', because: 'it is always there' }
  if (choice === 'ort-cpu') return { name: choice, because: 'it was asked for' }
  throw new AppError('engine-unavailable', `training engine ${choice} is not there: use --backend ort-cpu`)
}
