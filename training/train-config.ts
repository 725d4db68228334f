/**
 * Defaults of training, by input kind. Measured on validation parts only: training/LOG.md.
 */
import type { TrainConfig } from '../models/router/manifest.ts'
import type { InputKind } from '../models/router/spec.ts'
import { AppError } from '../src/errors.ts'

/** DESIGN section 8 (paper D.2). */
export const DEFAULT_TRAIN_CONFIG: TrainConfig = {
  width: 2048,
  dropout: 0.3,
  epochs: 10,
  patience: 3,
  learningRate: 3e-4,
  decay: 0.01,
  positiveWeight: 10,
  hiddenScale: 1,
  minFuture: 5,
  seed: 1,
}

export type TrainOverrides = { readonly [Key in keyof TrainConfig]?: TrainConfig[Key] | undefined }

/** @throws option-invalid naming the option, its value and its limits */
export function resolveTrainConfig(inputs: InputKind, overrides: TrainOverrides): TrainConfig {
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
  const config: TrainConfig = { ...DEFAULT_TRAIN_CONFIG, ...KIND_DEFAULTS[inputs], ...given }
  const check = (option: string, value: number, ok: boolean, limit: string): void => {
    if (!ok) throw new AppError('option-invalid', `${option} is ${value}, it must be ${limit}`)
  }
  check('--width', config.width, Number.isInteger(config.width) && config.width >= 0, 'an integer of at least 0')
  check('--dropout', config.dropout, config.dropout >= 0 && config.dropout < 1, 'at least 0 and below 1')
  check('--epochs', config.epochs, Number.isInteger(config.epochs) && config.epochs >= 1, 'an integer of at least 1')
  check('--patience', config.patience, Number.isInteger(config.patience) && config.patience >= 1, 'an integer >= 1')
  check('--lr', config.learningRate, config.learningRate > 0 && config.learningRate < 1, 'above 0 and below 1')
  check('--decay', config.decay, config.decay >= 0 && config.decay * config.learningRate < 1, 'at least 0')
  check('--positive-weight', config.positiveWeight, config.positiveWeight > 0, 'above 0')
  check(
    '--min-future',
    config.minFuture,
    Number.isInteger(config.minFuture) && config.minFuture >= 0,
    'an integer >= 0',
  )
  check('--hidden-scale', config.hiddenScale, config.hiddenScale > 0, 'above 0')
  check('--seed', config.seed, Number.isInteger(config.seed), 'an integer')
  return config
}

/**
 * Where the kinds differ. A dozen evidence features bear a higher rate and need more epochs; beside them hidden vectors
 * have to whisper, or they are learnt by heart and cost (LOG.md, "Hidden vectors beside evidence").
 */
const KIND_DEFAULTS: Readonly<Record<InputKind, Partial<TrainConfig>>> = {
  hidden: { hiddenScale: 0.1 },
  'hidden+evidence': { hiddenScale: 0.01, learningRate: 3e-3, epochs: 30, patience: 5 },
  evidence: { learningRate: 3e-3, epochs: 30, patience: 5 },
}
