/**
 * What the commands that train or resample share: their options, and the line that names the engine.
 */
import { availableParallelism } from 'node:os'
import { Option } from 'commander'
import { chooseEngine } from '../../training/backends/choose-engine.ts'
import { ENGINE_CHOICES, type EngineChoice } from '../../training/backends/engine-names.ts'
import type { TrainOverrides } from '../../training/train-config.ts'
import type { CommandContext } from './command-context.ts'
import { wholeNumberParser } from './whole-number.ts'

/** Flags that change how one router is trained. */
export interface TrainingFlags {
  readonly width?: number
  readonly dropout?: number
  readonly epochs?: number
  readonly patience?: number
  readonly lr?: number
  readonly decay?: number
  readonly positiveWeight?: number
  readonly hiddenScale?: number
  readonly minFuture?: number
  readonly seed?: number
}

export function overridesOf(flags: TrainingFlags): TrainOverrides {
  const { width, dropout, epochs, patience, lr, decay, positiveWeight, hiddenScale, minFuture, seed } = flags
  return { width, dropout, epochs, patience, learningRate: lr, decay, positiveWeight, hiddenScale, minFuture, seed }
}

/** More rarely pays: five rotations of each input kind are what there is to share out. */
const MAX_DEFAULT_WORKERS = 5

export function workersOption(description: string): Option {
  return new Option('--workers <count>', description)
    .argParser(wholeNumberParser(1))
    .default(Math.min(availableParallelism(), MAX_DEFAULT_WORKERS))
}

export function backendOption(description: string): Option {
  return new Option('--backend <engine>', description).choices(ENGINE_CHOICES).default('auto')
}

const DEFAULT_RESAMPLES = 1000
/** Percentiles of 2.5 % need some values in each tail. */
const MIN_RESAMPLES = 100

/** @param what is resampled, for people */
export function bootstrapOption(what: string): Option {
  return new Option('--bootstrap <resamples>', `${what}, at least ${MIN_RESAMPLES}`)
    .argParser(wholeNumberParser(MIN_RESAMPLES))
    .default(DEFAULT_RESAMPLES)
}

/** @throws engine-unavailable */
export async function openEngine(context: CommandContext, choice: EngineChoice): ReturnType<typeof chooseEngine> {
  const engine = await chooseEngine(choice)
  context.writeErr(`engine: ${engine.name} (${engine.because})\n`)
  return engine
}
