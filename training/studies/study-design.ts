/**
 * Which groups train, validate and test at each point of a study. Pure. Every design keeps the rotations of `keepready
 * train`, so that each group is tested at most once per point and points are measured on the same test groups.
 */
import { assignParts, ROTATIONS, type RotationSplit, rotationSplit } from '../../data/rotations.ts'
import type { DatasetTrajectory } from '../../data/store/dataset.ts'
import { AppError } from '../../src/errors.ts'
import { createRng, deriveSeed, shuffled } from '../../src/rng.ts'
import type { StudyAxis } from './study-record.ts'

export interface DesignedFold {
  readonly rotation: (typeof ROTATIONS)[number]
  readonly split: RotationSplit
}

export interface DesignedPoint {
  readonly x: number | null
  readonly label: string
  /** Test runs that count; null: all. */
  readonly domain: string | null
  /** Of training; null: the study's own. */
  readonly seed: number | null
  readonly folds: readonly DesignedFold[]
  /** The same rotations without the study's change, to be measured on the same runs; empty where there is none. */
  readonly reference: readonly DesignedFold[]
}

export interface StudyDesign {
  readonly title: string
  readonly method: string
  readonly axis: StudyAxis
  readonly points: readonly DesignedPoint[]
}

type Trajectories = readonly DatasetTrajectory[]

/**
 * Nested subsets of each rotation's training groups: whoever trains at 10 % trains at 20 % too. Groups are taken in one
 * seeded order in which every prefix holds the domains in about their shares; validation and test stay whole.
 *   percents  in (0, 100]
 * @throws training-data-insufficient for fewer groups than parts, option-invalid for other percents
 */
export function designFractions(trajectories: Trajectories, percents: readonly number[], seed: number): StudyDesign {
  const wrong = percents.find((percent) => !(percent > 0 && percent <= 100))
  if (wrong !== undefined || percents.length === 0)
    throw new AppError(
      'option-invalid',
      `--fractions holds ${wrong ?? 'nothing'}: percents above 0 and up to 100 are needed`,
    )
  const folds = foldsOf(trajectories, seed)
  const orders = folds.map(({ rotation, split }) =>
    balancedOrder(trajectories, split.train, deriveSeed(seed, 'study-fraction', rotation)),
  )
  return {
    title: 'Training fraction',
    method:
      "Each rotation's router trains on a growing part of its training groups, whole groups, nested subsets; validation and test groups stay the same.",
    axis: { label: 'share of the training groups', kind: 'share' },
    points: [...percents]
      .sort((a, b) => a - b)
      .map((percent) => ({
        x: percent / 100,
        label: `${percent} %`,
        domain: null,
        seed: null,
        folds: folds.map(({ rotation, split }, at) => {
          const order = orders[at] ?? []
          const taken = order.slice(0, Math.max(1, Math.round((percent / 100) * order.length)))
          return { rotation, split: { ...split, train: new Set(taken) } }
        }),
        reference: [],
      })),
  }
}

/**
 * Leave one domain out: the rotations as they are, with the domain taken from training and validation, and tested on the
 * domain's groups alone. Reference: the same rotations with the domain in training, measured on the same runs.
 * @throws option-invalid for a single domain
 */
export function designDomains(trajectories: Trajectories, seed: number): StudyDesign {
  const domains = [...new Set(trajectories.map(({ domain }) => domain))].sort()
  if (domains.length < 2)
    throw new AppError(
      'option-invalid',
      `--kind domain leaves one domain out, and the dataset holds ${domains.join(', ') || 'none'}: extract runs of two domains or more`,
    )
  const folds = foldsOf(trajectories, seed)
  return {
    title: 'Domain left out',
    method:
      'For each domain the five rotations train and validate without any group of the domain and are tested on its groups; beside them the same rotations with the domain in training, on the same test runs.',
    axis: { label: 'domain left out of training', kind: 'category' },
    points: domains.map((domain) => {
      const inside = new Set(trajectories.filter((run) => run.domain === domain).map(({ group }) => group))
      const without = (groups: ReadonlySet<string>): ReadonlySet<string> =>
        new Set([...groups].filter((group) => !inside.has(group)))
      const within = (groups: ReadonlySet<string>): ReadonlySet<string> =>
        new Set([...groups].filter((group) => inside.has(group)))
      return {
        x: null,
        label: domain,
        domain,
        seed: null,
        folds: folds.map(({ rotation, split }) => ({
          rotation,
          split: { train: without(split.train), validation: without(split.validation), test: within(split.test) },
        })),
        reference: folds,
      }
    }),
  }
}

/** The same rotations, trained with one seed after another: first weights, order and dropout differ, groups do not. */
export function designSeeds(trajectories: Trajectories, seeds: readonly number[], seed: number): StudyDesign {
  if (seeds.length < 2)
    throw new AppError('option-invalid', `--seeds gives ${seeds.length}: a spread needs at least two seeds`)
  const folds = foldsOf(trajectories, seed)
  return {
    title: 'Repeated seeds',
    method:
      'The five rotations with their groups as they are, trained again with other seeds (first weights, order of pairs, dropout).',
    axis: { label: 'training seed', kind: 'seed' },
    points: seeds.map((one) => ({ x: one, label: `seed ${one}`, domain: null, seed: one, folds, reference: [] })),
  }
}

function foldsOf(trajectories: Trajectories, seed: number): readonly DesignedFold[] {
  const parts = assignParts(trajectories, seed)
  return ROTATIONS.map((rotation) => ({ rotation, split: rotationSplit(parts, rotation) }))
}

/** Seeded; the k-th of n groups of a domain stands about k / n down the list. A group counts to the domain of its first run. */
function balancedOrder(trajectories: Trajectories, groups: ReadonlySet<string>, seed: number): readonly string[] {
  const domainOf = new Map<string, string>()
  for (const { group, domain } of trajectories)
    if (groups.has(group) && !domainOf.has(group)) domainOf.set(group, domain)
  const rng = createRng(seed)
  const placed = [...new Set(domainOf.values())].sort().flatMap((domain) => {
    const own = [...domainOf.keys()].filter((group) => domainOf.get(group) === domain).sort()
    const offset = rng.nextFloat()
    return shuffled(own, rng).map((group, k) => ({ group, at: (k + offset) / own.length }))
  })
  return placed.sort((a, b) => a.at - b.at || (a.group < b.group ? -1 : 1)).map(({ group }) => group)
}
