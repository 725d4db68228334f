/**
 * Configurations in words: a short name within a sweep, and the command that trains one. Pure.
 */
import type { TrainConfig } from '../../models/router/manifest.ts'
import { resolveTrainConfig } from '../train-config.ts'
import { AXIS_NAMES, type SweepConfiguration } from './search-space.ts'

/** Flag of `keepready train` by field; the searched ones first. */
const FLAGS: Readonly<Record<keyof TrainConfig, string>> = {
  positiveWeight: '--positive-weight',
  width: '--width',
  dropout: '--dropout',
  learningRate: '--lr',
  hiddenScale: '--hidden-scale',
  epochs: '--epochs',
  patience: '--patience',
  decay: '--decay',
  minFuture: '--min-future',
  seed: '--seed',
}

const SHORT: Readonly<Partial<Record<keyof TrainConfig, string>>> = {
  positiveWeight: 'weight',
  learningRate: 'lr',
  hiddenScale: 'scale',
}

/** Input kind, then each searched value that is not the same in all configurations of that kind. */
export function configurationNames(configurations: readonly SweepConfiguration[]): readonly string[] {
  const datasets = new Set(configurations.map(({ dataset }) => dataset)).size
  return configurations.map(({ dataset, inputs, config }) => {
    const alike = configurations.filter((one) => one.inputs === inputs)
    const differing = AXIS_NAMES.filter((name) => alike.some((one) => one.config[name] !== config[name]))
    const values = differing.map((name) => `${SHORT[name] ?? name} ${config[name]}`)
    return [...(datasets > 1 ? [`#${dataset + 1}`] : []), inputs, ...values].join(', ')
  })
}

/** The searched values always, others where they are not the default of the input kind. */
export function trainCommand(directory: string, { inputs, config }: SweepConfiguration): string {
  const defaults = resolveTrainConfig(inputs, {})
  const searched = new Set<string>(AXIS_NAMES)
  const flags = (Object.keys(FLAGS) as (keyof TrainConfig)[])
    .filter((name) => searched.has(name) || config[name] !== defaults[name])
    .map((name) => `${FLAGS[name]} ${config[name]}`)
  return `keepready train ${quoted(directory)} --out router/ --inputs ${inputs} ${flags.join(' ')}`
}

/** For a POSIX shell. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
