/**
 * Who introduced which literal, and who took it up later: one pass over a trajectory, causal. Pure.
 *
 * Everything here about interaction j depends on text at or before j only, so the state of any checkpoint can be read off
 * the index of the whole run: features offline (all checkpoints) and online (one prefix) come from the same numbers.
 *
 * Positions are array positions among the surviving interactions; canonical indices (with gaps where summaries replaced
 * interactions) stand in `canonical`.
 */
import { invariant } from '../errors.ts'
import { interactionText } from '../trajectory/interaction-text.ts'
import type { Interaction, Trajectory } from '../trajectory/trajectory.ts'
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
  const addOutside = (text: string): void =>
    scanLiterals(text, ({ key }) => {
      if (!owner.has(key)) owner.set(key, OUTSIDE)
    })
  addOutside(trajectory.system)
  addOutside(trajectory.task)

  const introduced: string[][] = []
  const history: SourceHistory[] = []
  const acted: ReadonlySet<string>[] = []
  const standing: ReadonlySet<string>[] = []
  let nextTurn = 0
  for (const [position, interaction] of trajectory.interactions.entries()) {
    // Turns of every kind: a summary stands for interactions that came before.
    for (; nextTurn < trajectory.turns.length; nextTurn++) {
      const turn = trajectory.turns[nextTurn]
      if (turn === undefined || turn.before > interaction.index) break
      addOutside(turn.text)
    }
    const keys = readKeys(interaction)
    acted.push(keys.acted)
    standing.push(keys.standing)
    history.push({ touches: [], takenUp: new Set() })
    const fresh: string[] = []
    const old = new Map<number, string[]>()
    for (const key of keys.standing) {
      const source = owner.get(key)
      if (source === undefined) {
        owner.set(key, position)
        fresh.push(key)
      } else if (source !== OUTSIDE) {
        const keysOfSource = old.get(source)
        if (keysOfSource === undefined) old.set(source, [key])
        else keysOfSource.push(key)
      }
    }
    introduced.push(fresh)
    for (const [source, restated] of old) {
      const used = restated.filter((key) => keys.acted.has(key))
      recordTouch(invariant(history[source], 'a source comes before its touches'), { position, used, restated })
    }
  }
  return {
    canonical: trajectory.interactions.map((interaction) => interaction.index),
    introduced,
    touches: history.map((source) => source.touches),
    acted,
    standing,
    sourceChars: trajectory.interactions.map((interaction) => interactionText(interaction).length),
  }
}

/** What is known so far about the later life of one source's literals. */
interface SourceHistory {
  readonly touches: Touch[]
  readonly takenUp: Set<string>
}

function readKeys(interaction: Interaction): { acted: ReadonlySet<string>; standing: ReadonlySet<string> } {
  const acted = new Set<string>()
  scanReasoningAndAction(interaction, ({ key }) => {
    if (acted.size < MAX_LITERALS_PER_INTERACTION) acted.add(key)
  })
  const standing = new Set(acted)
  scanObservations(interaction, ({ key }) => {
    if (standing.size < MAX_LITERALS_PER_INTERACTION) standing.add(key)
  })
  return { acted, standing }
}

function recordTouch(
  source: SourceHistory,
  touch: { readonly position: number; readonly used: readonly string[]; readonly restated: readonly string[] },
): void {
  const before = source.touches.at(-1)
  const isUse = touch.used.length > 0
  for (const key of touch.used) source.takenUp.add(key)
  source.touches.push({
    position: touch.position,
    used: touch.used.length,
    restated: touch.restated.length,
    usedTotal: (before?.usedTotal ?? 0) + touch.used.length,
    restatedTotal: (before?.restatedTotal ?? 0) + touch.restated.length,
    takenUp: source.takenUp.size,
    users: (before?.users ?? 0) + (isUse ? 1 : 0),
    lastUser: isUse ? touch.position : (before?.lastUser ?? -1),
  })
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
