/**
 * Which configurations a sweep compares: every combination of the values given, or a seeded draw from them. Pure.
 */
import type { TrainConfig } from '../../models/router/manifest.ts'
import type { InputKind } from '../../models/router/spec.ts'
import { AppError } from '../../src/errors.ts'
import { createRng, deriveSeed } from '../../src/rng.ts'
import { BY_COST } from '../choose-inputs.ts'
import { resolveTrainConfig, type TrainOverrides } from '../train-config.ts'

/** The values that a sweep may vary, beside dataset and input kind. */
export const AXIS_NAMES = ['positiveWeight', 'width', 'dropout', 'learningRate', 'hiddenScale'] as const
export type AxisName = (typeof AXIS_NAMES)[number]

/** What a random draw takes from where no values are given; a grid keeps the default of the input kind there. */
export const RANDOM_VALUES: Readonly<Record<AxisName, readonly number[]>> = {
  positiveWeight: [1, 2, 5, 10, 20],
  width: [0, 64, 256, 2048],
  dropout: [0, 0.1, 0.3, 0.5],
  learningRate: [3e-4, 1e-3, 3e-3],
  hiddenScale: [1, 0.3, 0.1, 0.03, 0.01, 0.003],
}

/** Paper D.2: the one axis that a grid varies unasked. */
export const GRID_POSITIVE_WEIGHTS = RANDOM_VALUES.positiveWeight

export interface SearchSpace {
  /**
   * One entry per dataset: the first dataset that holds the same evidence features. Kind `evidence` reads no vectors, so
   * datasets that share them would only repeat it.
   */
  readonly evidenceSource: readonly number[]
  readonly inputs: readonly InputKind[]
  readonly values: Readonly<Partial<Record<AxisName, readonly number[]>>>
  /** Of every configuration: epochs, patience, decay, minFuture, seed. */
  readonly fixed: TrainOverrides
}

export interface SweepConfiguration {
  /** Number of the dataset. */
  readonly dataset: number
  readonly inputs: InputKind
  readonly config: TrainConfig
}

/**
 * Every combination, the first axis (dataset) slowest, input kinds from cheap to dear (ties on validation go to the earlier);
 * those that train the same router stand once.
 * @throws option-invalid for a value out of range
 */
export function gridConfigurations(space: SearchSpace): readonly SweepConfiguration[] {
  const axes = axesOf(space, {})
  return distinct(Array.from({ length: sizeOf(axes) }, (_, at) => configurationAt(space, axes, at)))
}

/** A draw gives up after so many repeats in a row: the space is (nearly) exhausted. */
const MAX_REPEATS = 1000

/**
 * `count` different configurations, drawn evenly from all combinations; all of them where there are no more.
 * @throws option-invalid for a value out of range
 */
export function randomConfigurations(space: SearchSpace, count: number, seed: number): readonly SweepConfiguration[] {
  const axes = axesOf(space, RANDOM_VALUES)
  const size = sizeOf(axes)
  const rng = createRng(deriveSeed(seed, 'sweep'))
  const drawn = new Map<string, SweepConfiguration>()
  for (let repeats = 0; drawn.size < count && repeats < MAX_REPEATS; ) {
    const configuration = configurationAt(space, axes, rng.nextBelow(size))
    const key = JSON.stringify(configuration)
    repeats = drawn.has(key) ? repeats + 1 : 0
    drawn.set(key, configuration)
  }
  return [...drawn.values()]
}

interface Axes {
  readonly datasets: number
  readonly inputs: readonly InputKind[]
  /** [undefined] = the default of the input kind. */
  readonly values: Readonly<Record<AxisName, readonly (number | undefined)[]>>
}

function axesOf(space: SearchSpace, otherwise: Readonly<Partial<Record<AxisName, readonly number[]>>>): Axes {
  const values = AXIS_NAMES.map((name) => [name, space.values[name] ?? otherwise[name] ?? [undefined]] as const)
  return {
    datasets: space.evidenceSource.length,
    inputs: BY_COST.filter((kind) => space.inputs.includes(kind)),
    values: Object.fromEntries(values) as Axes['values'],
  }
}

function sizeOf({ datasets, inputs, values }: Axes): number {
  const size = AXIS_NAMES.reduce((product, name) => product * values[name].length, datasets * inputs.length)
  if (size >= 1 && size <= 2 ** 32) return size
  throw new AppError('option-invalid', `the search space holds ${size} configurations: give each axis some values`)
}

/** Mixed-radix digits of `at`: the last axis turns fastest. */
function configurationAt(space: SearchSpace, axes: Axes, at: number): SweepConfiguration {
  let rest = at
  const digit = (radix: number): number => {
    const value = rest % radix
    rest = Math.floor(rest / radix)
    return value
  }
  const chosen = Object.fromEntries(
    AXIS_NAMES.toReversed().map((name) => [name, axes.values[name][digit(axes.values[name].length)]]),
  )
  const inputs = axes.inputs[digit(axes.inputs.length)] ?? 'hidden'
  const dataset = digit(axes.datasets)
  const kept = { ...chosen }
  // What the router does not have cannot matter: one configuration stands for all its values.
  if (inputs === 'evidence') delete kept.hiddenScale
  if (chosen.width === 0) delete kept.dropout
  const given = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
  return {
    dataset: inputs === 'evidence' ? (space.evidenceSource[dataset] ?? dataset) : dataset,
    inputs,
    config: resolveTrainConfig(inputs, { ...space.fixed, ...given }),
  }
}

function distinct(configurations: readonly SweepConfiguration[]): readonly SweepConfiguration[] {
  return [...new Map(configurations.map((one) => [JSON.stringify(one), one])).values()]
}
