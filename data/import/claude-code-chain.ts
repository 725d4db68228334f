/**
 * The order of a Claude Code conversation: from the newest message up its parent links; what a rewind, an edit or a fork has
 * left behind are branches. Sources: formats.md "Claude Code JSONL", trajectories/long/README.md. Pure.
 */
import { callIds, resultBlocks, type SessionLine } from './claude-code-session.ts'
import type { Damage } from './importer.ts'
import { idOf, stringOf } from './json-value.ts'

export interface Conversation {
  /** Ancestors of the newest leaf and what belongs to their model calls, in conversation order. */
  readonly live: readonly SessionLine[]
  /** The same from each other leaf, in the order of the file; the beginning is shared with the live one. */
  readonly branches: () => readonly (readonly SessionLine[])[]
  /** Messages that are not in `live`. */
  readonly deadCount: number
  readonly damage: readonly Damage[]
}

/**
 * The conversation among `own` (the lines of one session or one sub-agent). All lines of a model call (same message id)
 * and all their results stay together, wherever parallel calls put them in the tree. A file whose messages are not linked
 * at all (early 1.x exports) keeps the order of the file; a missing parent is bridged by the line before and reported.
 * @param byUuid lines of the whole file: links may lead through lines of another part
 */
export function orderConversation(own: readonly SessionLine[], byUuid: ReadonlyMap<string, SessionLine>): Conversation {
  const calls = indexCalls(own, byUuid)
  const messages = own.filter((line) => line.kind !== 'link')
  const unordered = (damage: readonly Damage[]): Conversation => ({
    live: withWholeCalls(own, calls),
    branches: () => [],
    deadCount: 0,
    damage,
  })
  const isLinked = messages.some((line) => line.parentUuid !== null && byUuid.has(line.parentUuid))
  if (!isLinked) return unordered(missingParents(own, byUuid))
  const clock = clockDamage(messages, byUuid)
  const leaves = leavesOf(messages, byUuid)
  const leaf = newest(leaves, clock.length === 0)
  if (leaf === undefined)
    return unordered([
      { line: own[0]?.line ?? 1, reason: 'parent links run in a circle: the order of the file is kept' },
    ])
  const damage: Damage[] = [...clock]
  const live = withWholeCalls(pathTo(leaf, { own, byUuid, damage }), calls)
  const inLive = new Set(live)
  const branches = (): readonly (readonly SessionLine[])[] => {
    const covered = new Set(live)
    return leaves
      .filter((line) => !inLive.has(line))
      .flatMap((line) => {
        if (covered.has(line)) return []
        const branch = withWholeCalls(pathTo(line, { own, byUuid, damage: [] }), calls)
        for (const part of branch) covered.add(part)
        return [branch]
      })
  }
  return { live, branches, deadCount: messages.filter((line) => !inLive.has(line)).length, damage }
}

/** The line that a link means; a message before another record of the same uuid. */
export function indexByUuid(lines: readonly SessionLine[]): ReadonlyMap<string, SessionLine> {
  const byUuid = new Map<string, SessionLine>()
  for (const line of lines) if (!byUuid.has(line.uuid) || line.kind !== 'link') byUuid.set(line.uuid, line)
  return byUuid
}

interface Tree {
  readonly own: readonly SessionLine[]
  readonly byUuid: ReadonlyMap<string, SessionLine>
  readonly damage: Damage[]
}

/** From the root down to the leaf. */
function pathTo(leaf: SessionLine, tree: Tree): readonly SessionLine[] {
  const path: SessionLine[] = []
  const seen = new Set<SessionLine>()
  let current: SessionLine | undefined = leaf
  while (current !== undefined && !seen.has(current)) {
    seen.add(current)
    path.push(current)
    current = parentOf(current, tree)
  }
  if (current !== undefined)
    tree.damage.push({ line: current.line, reason: 'parent links run in a circle: the run starts here' })
  return path.reverse()
}

function missingParents(own: readonly SessionLine[], byUuid: ReadonlyMap<string, SessionLine>): readonly Damage[] {
  return own
    .filter((line) => line.parentUuid !== null && !byUuid.has(line.parentUuid))
    .map((line) => ({ line: line.line, reason: `parent ${line.parentUuid} is not in the file: the record is kept` }))
}

function parentOf(line: SessionLine, tree: Tree): SessionLine | undefined {
  const isCompaction = line.value.subtype === 'compact_boundary' || line.value.isCompactSummary === true
  if (line.parentUuid === null && !isCompaction) return undefined
  const parent = line.parentUuid === null ? undefined : tree.byUuid.get(line.parentUuid)
  if (parent !== undefined) return parent
  const before = lineBefore(tree.own, line.line)
  if (line.parentUuid !== null && !isCompaction)
    tree.damage.push({
      line: line.line,
      reason: `parent ${line.parentUuid} is not in the file: ${before === undefined ? 'the run starts here' : `continued with line ${before.line}`}`,
    })
  return before
}

/** Last one above a line number. @param own in the order of the file */
function lineBefore(own: readonly SessionLine[], number: number): SessionLine | undefined {
  let low = 0
  let high = own.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((own[middle]?.line ?? 0) < number) low = middle + 1
    else high = middle
  }
  return own[low - 1]
}

/** Lines of one call are written in parallel and some seconds late (20 s seen in real logs); beyond this a clock was set. */
const CLOCK_TOLERANCE_MS = 60_000

/** Messages that are older than their parent. */
function clockDamage(messages: readonly SessionLine[], byUuid: ReadonlyMap<string, SessionLine>): readonly Damage[] {
  return messages.flatMap((line) => {
    const parent = byUuid.get(line.parentUuid ?? '')
    if (parent === undefined || line.timestamp >= parent.timestamp) return []
    const late = Date.parse(parent.timestamp) - Date.parse(line.timestamp)
    return late > CLOCK_TOLERANCE_MS
      ? [
          {
            line: line.line,
            reason: `the clock goes back by ${Math.round(late / 1000)} s: order is taken from the file`,
          },
        ]
      : []
  })
}

/** Messages from which no other message descends, in the order of the file. */
function leavesOf(messages: readonly SessionLine[], byUuid: ReadonlyMap<string, SessionLine>): readonly SessionLine[] {
  const inner = new Set<string>()
  for (const line of messages) {
    let parent = line.parentUuid
    while (parent !== null && !inner.has(parent)) {
      inner.add(parent)
      parent = byUuid.get(parent)?.parentUuid ?? null
    }
  }
  return messages.filter((line) => !inner.has(line.uuid))
}

/** By time where times can be trusted, then by line. */
function newest(leaves: readonly SessionLine[], byTime: boolean): SessionLine | undefined {
  let found: SessionLine | undefined
  for (const line of leaves)
    if (!byTime || found === undefined || line.timestamp >= found.timestamp || line.timestamp === '') found = line
  return found
}

interface CallIndex {
  /** Lines of a model call, by message id. */
  readonly linesOf: ReadonlyMap<string, readonly SessionLine[]>
  /** Lines that hold its results. */
  readonly answersOf: ReadonlyMap<string, readonly SessionLine[]>
}

function indexCalls(own: readonly SessionLine[], byUuid: ReadonlyMap<string, SessionLine>): CallIndex {
  const linesOf = new Map<string, SessionLine[]>()
  const answersOf = new Map<string, SessionLine[]>()
  const callers = new Map<string, string>()
  for (const line of own) {
    if (line.kind === 'assistant') {
      pushTo(linesOf, line.messageId, line)
      for (const id of callIds(line)) callers.set(id, line.messageId)
    } else if (line.kind === 'user') {
      const owner = ownerOf(line, byUuid, callers)
      if (owner !== null) pushTo(answersOf, owner, line)
    }
  }
  return { linesOf, answersOf }
}

/** Replaces the first line of each model call by all its lines, then all lines that hold its results. */
function withWholeCalls(chain: readonly SessionLine[], calls: CallIndex): readonly SessionLine[] {
  const ordered = new Set<SessionLine>()
  for (const line of chain) {
    if (line.kind === 'link') continue
    if (line.kind === 'assistant' && !ordered.has(line)) {
      for (const part of calls.linesOf.get(line.messageId) ?? []) ordered.add(part)
      for (const answer of calls.answersOf.get(line.messageId) ?? []) ordered.add(answer)
    }
    ordered.add(line)
  }
  return [...ordered]
}

/** Model call that a result line answers: the one it is linked to, else the latest one that made a call of its id. */
function ownerOf(
  line: SessionLine,
  byUuid: ReadonlyMap<string, SessionLine>,
  callers: ReadonlyMap<string, string>,
): string | null {
  const results = resultBlocks(line)
  if (results.length === 0) return null
  let above = byUuid.get(idOf(line.value.sourceToolAssistantUUID) ?? line.parentUuid ?? '')
  const seen = new Set<SessionLine>()
  while (above !== undefined && above.kind !== 'assistant' && !seen.has(above)) {
    seen.add(above)
    above = above.parentUuid === null ? undefined : byUuid.get(above.parentUuid)
  }
  return above?.messageId ?? callers.get(stringOf(results[0]?.tool_use_id)) ?? null
}

function pushTo(map: Map<string, SessionLine[]>, key: string, line: SessionLine): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [line])
  else list.push(line)
}
