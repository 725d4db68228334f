/**
 * The order of a pi session. v1 is linear; from v2 on entries carry id and parentId, and the live run is the path from the
 * newest entry up to the root. Every other leaf is a branch that was left. Pure.
 */
import type { Damage } from './importer.ts'
import { idOf, type JsonObject } from './json-value.ts'

export interface PiEntry {
  readonly line: number
  readonly value: JsonObject
}

export interface PiOrder {
  readonly live: readonly PiEntry[]
  /** Paths to the other leaves that end in a message, in the order of the file; empty unless they are asked for. */
  readonly branches: () => readonly (readonly PiEntry[])[]
}

interface Context {
  readonly allBranches: boolean
  damage(entry: Damage): void
  ignore(kind: string, count?: number): void
}

/** Reports missing parents, circles and ids that stand twice; counts messages of branches that are not asked for. */
export function orderPiSession(entries: readonly PiEntry[], context: Context): PiOrder {
  const tree = linkEntries(entries, context)
  const leaf = entries.findLast((entry) => tree.has(entry))
  if (leaf === undefined) return { live: entries, branches: () => [] }
  const live = pathTo(leaf, tree, context.damage)
  const inLive = new Set(live)
  const left = entries.filter((entry) => entry.value.type === 'message' && tree.has(entry) && !inLive.has(entry))
  if (!context.allBranches) {
    if (left.length > 0) context.ignore('message of a dead branch', left.length)
    return { live, branches: () => [] }
  }
  const inner = new Set<PiEntry>()
  for (const entry of left)
    for (let above = tree.get(entry); above && !inner.has(above); above = tree.get(above)) inner.add(above)
  const leaves = left.filter((entry) => !inner.has(entry))
  return { live, branches: () => leaves.map((entry) => pathTo(entry, tree, () => undefined)) }
}

/** Entry -> the one above it; null at the root. Entries without an id have no place in the tree. */
type Tree = ReadonlyMap<PiEntry, PiEntry | null>

function linkEntries(entries: readonly PiEntry[], context: Context): Tree {
  const tree = new Map<PiEntry, PiEntry | null>()
  const newest = new Map<string, PiEntry>()
  const firsts = new Map<string, PiEntry>()
  for (const entry of entries) {
    const id = idOf(entry.value.id)
    if (id !== null && entry.value.type !== 'session' && !firsts.has(id)) firsts.set(id, entry)
  }
  let previous: PiEntry | null = null
  for (const entry of entries) {
    const id = idOf(entry.value.id)
    if (id === null || entry.value.type === 'session') continue
    const parentId = idOf(entry.value.parentId)
    // The nearest one above; one further down only in a file whose lines are out of order.
    const parent = parentId === null ? null : (newest.get(parentId) ?? firsts.get(parentId))
    if (parent === undefined)
      context.damage({ line: entry.line, reason: `parent ${parentId} is missing: continued with the record before it` })
    tree.set(entry, parent === undefined ? previous : parent)
    const earlier = newest.get(id)
    if (earlier !== undefined)
      context.damage({ line: entry.line, reason: `id ${id} stands on line ${earlier.line} too: both are kept` })
    newest.set(id, entry)
    previous = entry
  }
  return tree
}

/** From the root down to the leaf. */
function pathTo(leaf: PiEntry, tree: Tree, report: (entry: Damage) => void): readonly PiEntry[] {
  const path = new Set<PiEntry>()
  let current: PiEntry | null = leaf
  while (current !== null && !path.has(current)) {
    path.add(current)
    current = tree.get(current) ?? null
  }
  if (current !== null) report({ line: current.line, reason: 'parent links run in a circle: the run starts here' })
  return [...path].reverse()
}
