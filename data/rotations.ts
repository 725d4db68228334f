/**
 * Which groups train, validate and test in each rotation (DESIGN section 12). Pure: values in, values out.
 * Groups are split, never runs or pairs: near-copies of one task stay on one side.
 */

import { AppError, invariant } from '../src/errors.ts'
import { createRng, deriveSeed, shuffled } from '../src/rng.ts'
import type { DatasetTrajectory } from './store/dataset.ts'

/**
 * Parts 0-4 take turns as test and validation part; part 5 always trains, and validates the final model. Part 6 is not dealt:
 * it holds groups that a model has seen before and only ever trains.
 */
export type Part = 0 | 1 | 2 | 3 | 4 | 5 | 6
export const PARTS = [0, 1, 2, 3, 4, 5] as const satisfies readonly Part[]
export const TRAINS_ONLY: Part = 6

/** `final` is the model that ships: it trains on parts 0-4, validates on part 5 and has no test part. */
export type Rotation = 0 | 1 | 2 | 3 | 4 | 'final'
export const ROTATIONS = [0, 1, 2, 3, 4] as const satisfies readonly Rotation[]

export interface RotationSplit {
  readonly train: ReadonlySet<string>
  readonly validation: ReadonlySet<string>
  /** Empty for the final model. */
  readonly test: ReadonlySet<string>
}

interface GroupProfile {
  readonly group: string
  readonly domain: string
  /** Interactions of all its trajectories: how much data the group brings. */
  readonly interactions: number
}

/**
 * Deals groups into six parts, stratified by domain and length.
 * Per domain, groups are ordered by length and dealt six at a time, one to each part in seeded order; what is left
 * over goes to the parts that hold the fewest groups. So parts differ by at most one group, in total and per domain.
 *   trajectories  any order: the result depends on ids, lengths and the seed only
 *   returns       group -> part, in group order
 * @throws training-data-insufficient for fewer groups than parts
 */
export function assignParts(trajectories: readonly DatasetTrajectory[], seed: number): ReadonlyMap<string, Part> {
  const groups = profileGroups(trajectories)
  if (groups.length < PARTS.length)
    throw new AppError(
      'training-data-insufficient',
      `${groups.length} groups, but rotations deal groups into ${PARTS.length} parts: ` +
        `import runs of at least ${PARTS.length - groups.length} more tasks (a group is one task; its reruns do not count)`,
      { details: { groups: groups.length, limit: PARTS.length } },
    )
  const partOf = new Map<string, Part>()
  const held = new Map<Part, number>(PARTS.map((part) => [part, 0]))
  for (const domain of [...new Set(groups.map((group) => group.domain))].sort(byCodeUnit)) {
    const rng = createRng(deriveSeed(seed, 'rotations', domain))
    const ordered = shuffled(
      groups.filter((group) => group.domain === domain),
      rng,
    ).sort((a, b) => b.interactions - a.interactions)
    for (let start = 0; start < ordered.length; start += PARTS.length) {
      const stratum = shuffled(ordered.slice(start, start + PARTS.length), rng)
      const emptiestFirst = shuffled(PARTS, rng).sort((a, b) => (held.get(a) ?? 0) - (held.get(b) ?? 0))
      stratum.forEach((profile, k) => {
        const part = invariant(emptiestFirst[k], 'a stratum has no more groups than there are parts')
        partOf.set(profile.group, part)
        held.set(part, (held.get(part) ?? 0) + 1)
      })
    }
  }
  return new Map([...partOf].sort(([a], [b]) => byCodeUnit(a, b)))
}

/** Rotation r tests on part r, validates on part (r + 1) mod 5 and trains on the other four. */
export function rotationSplit(parts: ReadonlyMap<string, Part>, rotation: Rotation): RotationSplit {
  const testPart: Part | null = rotation === 'final' ? null : rotation
  const validationPart = rotation === 'final' ? 5 : (((rotation + 1) % 5) as Part)
  const split = { train: new Set<string>(), validation: new Set<string>(), test: new Set<string>() }
  for (const [group, part] of parts) {
    if (part === testPart) split.test.add(group)
    else if (part === validationPart) split.validation.add(group)
    else split.train.add(group)
  }
  return split
}

function profileGroups(trajectories: readonly DatasetTrajectory[]): readonly GroupProfile[] {
  const members = new Map<string, DatasetTrajectory[]>()
  for (const trajectory of trajectories) {
    const known = members.get(trajectory.group)
    if (known === undefined) members.set(trajectory.group, [trajectory])
    else known.push(trajectory)
  }
  return [...members]
    .sort(([a], [b]) => byCodeUnit(a, b))
    .map(([group, runs]) => ({
      group,
      domain: mostFrequent(runs.map((run) => run.domain)),
      interactions: runs.reduce((sum, run) => sum + run.length, 0),
    }))
}

/** Ties go to the name that sorts first. */
function mostFrequent(names: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const ranked = [...counts].sort(([a, m], [b, n]) => n - m || byCodeUnit(a, b))
  return invariant(ranked[0], 'a group has a trajectory')[0]
}

/** The same order on every machine: no locale. */
function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
