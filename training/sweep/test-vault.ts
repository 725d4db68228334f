/**
 * The lock between choosing and testing. Before a rotation's choice is sealed, its datasets can only be had without the
 * pairs of its test groups; a sealed choice opens them for the chosen configuration alone. Nobody else reads datasets.
 */
import type { RotationSplit } from '../../data/rotations.ts'
import type { Dataset } from '../../data/store/dataset.ts'
import { withholdGroups } from '../../data/store/withhold-groups.ts'
import { AppError } from '../../src/errors.ts'
import { chooseConfiguration, type ValidationScore } from './choose-configuration.ts'
import type { SweepConfiguration } from './search-space.ts'

export interface SealedChoice {
  readonly rotation: number
  /** Number of the configuration, and what it is. */
  readonly number: number
  readonly configuration: SweepConfiguration
}

export interface TestVault {
  /** Of a dataset, what a rotation may see before its choice. */
  view(dataset: number, rotation: number): Promise<Dataset>
  /**
   * Chooses for a rotation, once and for good.
   * @param scores one per configuration: what each reached on this rotation's validation part
   * @throws training-data-insufficient when no configuration gave a router
   */
  seal(rotation: number, scores: readonly ValidationScore[]): SealedChoice
  /** The whole dataset of the chosen configuration. @throws invariant for a choice that this vault has not sealed */
  openTest(choice: SealedChoice): Promise<Dataset>
}

export function createTestVault(options: {
  /** Reads dataset `number` anew: the vault keeps none, so test rows are not in memory before they are opened. */
  readonly read: (number: number) => Promise<Dataset>
  readonly configurations: readonly SweepConfiguration[]
  readonly splitOf: (rotation: number) => RotationSplit
}): TestVault {
  const { read, configurations, splitOf } = options
  const sealed = new Map<number, SealedChoice>()
  return {
    view: async (dataset, rotation) => withholdGroups(await read(dataset), splitOf(rotation).test),
    seal(rotation, scores) {
      if (scores.length !== configurations.length)
        throw new AppError(
          'invariant',
          `rotation ${rotation} has ${scores.length} of ${configurations.length} validation scores: no choice yet`,
        )
      if (sealed.has(rotation)) throw new AppError('invariant', `rotation ${rotation} has made its choice already`)
      const number = chooseConfiguration(scores)
      const configuration = number === null ? undefined : configurations[number]
      if (number === null || configuration === undefined)
        throw new AppError(
          'training-data-insufficient',
          `no configuration trained a router in rotation ${rotation}: every loss diverged; give smaller --lr values`,
        )
      const choice: SealedChoice = Object.freeze({ rotation, number, configuration })
      sealed.set(rotation, choice)
      return choice
    },
    openTest(choice) {
      if (sealed.get(choice.rotation) !== choice)
        throw new AppError(
          'invariant',
          `the test part of rotation ${choice.rotation} opens with its sealed choice only`,
        )
      return read(choice.configuration.dataset)
    },
  }
}
