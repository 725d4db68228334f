/**
 * Who introduced which literal, and who took it up later: one pass over a trajectory, causal. Pure.
 *
 * Everything here about interaction j depends on text at or before j only, so the state of any checkpoint can be read off
 * the index of the whole run: features offline (all checkpoints) and online (one prefix) come from the same numbers.
 *
 * Positions are array positions among the surviving interactions; canonical indices (with gaps where summaries replaced
 * interactions) stand in `canonical`.
 */
import { interactionText } from '../trajectory/interaction-text.ts'
import type { Trajectory } from '../trajectory/trajectory.ts'
import { scanObservations, scanReasoningAndAction } from './interaction-literals.ts'
import { scanLiterals } from './literals.ts'

/**
 * Distinct literals read from one interaction, reasoning and action first. A bound on memory: a recursive listing of 1 MB
 * holds some 10^5 paths; the largest interaction of the real logs at hand holds about 5,000.
 */
export const MAX_LITERALS_PER_INTERACTION = 20_000

/** Literals that stood in the head or in a turn: introduced by no interaction. */
const OUTSIDE = -1

/** One later interaction that touches what a source introduced; counts are running totals up to and including it. */
export interface Touch {
  /** Position of the later interaction. */
  readonly position: number
  /** Literals of the source in its reasoning or action (distinct within this interaction). */
  readonly used: number
  /** Literals of the source anywhere in it. */
  readonly restated: number
  readonly usedTotal: number
  readonly restatedTotal: number
  /** Distinct literals of the source used so far. */
  readonly takenUp: number
  /** Interactions so far that used one. */
  readonly users: number
  /** Position of the last user so far, -1 if none. */
  readonly lastUser: number
}

export interface LiteralIndex {
  readonly canonical: readonly number[]
  /** Keys introduced by each interaction, in reading order. */
  readonly introduced: readonly (readonly string[])[]
  /** Per source position: later interactions that use or restate, ascending. */
  readonly touches: readonly (readonly Touch[])[]
  /** Per position: keys in reasoning or action. */
  readonly acted: readonly ReadonlySet<string>[]
  /** Per position: keys anywhere in S. */
  readonly standing: readonly ReadonlySet<string>[]
  /** Per position: characters of S. */
  readonly sourceChars: readonly number[]
}

export function buildLiteralIndex(trajectory: Trajectory): LiteralIndex {
  const owner = new Map<string, number>()
  const outside = (text: string): void =>
    scanLiterals(text, ({ key }) => {
      if (!owner.has(key)) owner.set(key, OUTSIDE)
    })
  outside(trajectory.system)
  outside(trajectory.task)

  const introduced: string[][] = []
  const touches: Touch[][] = []
  const takenUp: Set<string>[] = []
  const acted: ReadonlySet<string>[] = []
  const standing: ReadonlySet<string>[] = []
  const sourceChars: number[] = []
  let nextTurn = 0
  for (const [position, interaction] of trajectory.interactions.entries()) {
    for (; nextTurn < trajectory.turns.length; nextTurn++) {
      const turn = trajectory.turns[nextTurn]
      if (turn === undefined || turn.before > interaction.index) break
      outside(turn.text)
    }
    const inAction = new Set<string>()
    const inAll = new Set<string>()
    scanReasoningAndAction(interaction, ({ key }) => {
      if (inAction.size < MAX_LITERALS_PER_INTERACTION) inAction.add(key)
    })
    for (const key of inAction) inAll.add(key)
    scanObservations(interaction, ({ key }) => {
      if (inAll.size < MAX_LITERALS_PER_INTERACTION) inAll.add(key)
    })
    acted.push(inAction)
    standing.push(inAll)
    sourceChars.push(interactionText(interaction).length)
    introduced.push([])
    touches.push([])
    takenUp.push(new Set())

    const found = new Map<number, { used: number; restated: number }>()
    for (const key of inAll) {
      const source = owner.get(key)
      if (source === undefined) {
        owner.set(key, position)
        introduced[position]?.push(key)
      } else if (source !== OUTSIDE) {
        const counts = found.get(source) ?? { used: 0, restated: 0 }
        counts.restated++
        if (inAction.has(key)) {
          counts.used++
          takenUp[source]?.add(key)
        }
        found.set(source, counts)
      }
    }
    for (const [source, counts] of found) {
      const list = touches[source] ?? []
      const before = list.at(-1)
      list.push({
        position,
        ...counts,
        usedTotal: (before?.usedTotal ?? 0) + counts.used,
        restatedTotal: (before?.restatedTotal ?? 0) + counts.restated,
        takenUp: takenUp[source]?.size ?? 0,
        users: (before?.users ?? 0) + (counts.used > 0 ? 1 : 0),
        lastUser: counts.used > 0 ? position : (before?.lastUser ?? -1),
      })
    }
  }
  const canonical = trajectory.interactions.map((interaction) => interaction.index)
  return { canonical, introduced, touches, acted, standing, sourceChars }
}

/** The last touch of a source before `position` (exclusive), undefined if there is none. */
export function lastTouchBefore(index: LiteralIndex, source: number, position: number): Touch | undefined {
  const list = index.touches[source] ?? []
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle]?.position ?? 0) < position) low = middle + 1
    else high = middle
  }
  return list[low - 1]
}
