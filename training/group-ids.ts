/**
 * The ids a group of a dataset goes by: its own, and those of the groups that were merged into it as near copies. A router
 * that saw any of them has seen the group.
 */
import type { DatasetManifest } from '../data/store/dataset.ts'
import { hashGroups } from '../models/router/group-hash.ts'

/** @returns ids of each group that was merged; a group that does not stand here has only its own */
export function mergedIds(manifest: Pick<DatasetManifest, 'groupMerges'>): ReadonlyMap<string, readonly string[]> {
  return new Map((manifest.groupMerges ?? []).map(({ group, members }) => [group, members]))
}

/** Hashes of all ids of these groups, sorted, each once. */
export function hashedIds(manifest: Pick<DatasetManifest, 'groupMerges'>, groups: Iterable<string>): readonly string[] {
  const merged = mergedIds(manifest)
  return hashGroups(new Set([...groups].flatMap((group) => [group, ...(merged.get(group) ?? [])])))
}
