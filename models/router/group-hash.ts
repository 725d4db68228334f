/**
 * Group ids as an artefact keeps them: leaks can be recognised, names cannot be read.
 */
import { createHash } from 'node:crypto'

/** 16 hex digits of SHA-256. */
export function hashGroup(group: string): string {
  return createHash('sha256').update(group).digest('hex').slice(0, 16)
}

/** Sorted. */
export function hashGroups(groups: Iterable<string>): readonly string[] {
  return [...groups].map(hashGroup).sort()
}
