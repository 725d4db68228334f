/**
 * Parts of a dataset's groups for a router that may start from another one: groups that the other has seen only train, and
 * the rotations deal the others. Pure.
 */
import { assignParts, PARTS, type Part, TRAINS_ONLY } from '../data/rotations.ts'
import type { Dataset } from '../data/store/dataset.ts'
import { hashGroup } from '../models/router/group-hash.ts'
import { AppError } from '../src/errors.ts'
import { mergedIds } from './group-ids.ts'

/**
 * @param parent hashed ids of the groups that the router to start from has trained or validated on; null without one
 * @returns group -> part, in group order
 * @throws training-data-insufficient saying how many groups are left
 */
export function dealParts(
  dataset: Pick<Dataset, 'directory' | 'manifest' | 'trajectories'>,
  seed: number,
  parent: { readonly seenGroups: readonly string[] } | null,
): ReadonlyMap<string, Part> {
  if (parent === null) return assignParts(dataset.trajectories, seed)
  const fresh = freshGroups(dataset, parent.seenGroups)
  const all = [...new Set(dataset.trajectories.map(({ group }) => group))]
  if (fresh.size < PARTS.length)
    throw new AppError(
      'training-data-insufficient',
      `${fresh.size} of the ${all.length} groups of ${dataset.directory} are left that the router to start from has neither ` +
        `trained nor validated on, ${PARTS.length} are needed: test groups must be new to it. Add runs of at least ` +
        `${PARTS.length - fresh.size} more tasks, or train without --from`,
      { details: { groups: all.length, fresh: fresh.size, limit: PARTS.length } },
    )
  const dealt = assignParts(
    dataset.trajectories.filter(({ group }) => fresh.has(group)),
    seed,
  )
  const parts = all.map((group): [string, Part] => [group, dealt.get(group) ?? TRAINS_ONLY])
  return new Map(parts.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Groups none of whose ids is among the hashes. */
export function freshGroups(
  dataset: Pick<Dataset, 'manifest' | 'trajectories'>,
  seenGroups: readonly string[],
): ReadonlySet<string> {
  const seen = new Set(seenGroups)
  const merged = mergedIds(dataset.manifest)
  const isSeen = (group: string): boolean => [group, ...(merged.get(group) ?? [])].some((id) => seen.has(hashGroup(id)))
  return new Set(dataset.trajectories.map(({ group }) => group).filter((group) => !isSeen(group)))
}
