/**
 * A history into interactions, user turns, pinned items and summaries, with what may never be replaced (DESIGN section 5).
 * Pure. The walk over the messages is partition.ts; the same content in canonical form is build-trajectory.ts.
 */
import { interactionText } from '../trajectory/interaction-text.ts'
import type { Interaction } from '../trajectory/trajectory.ts'
import { buildTrajectory } from './build-trajectory.ts'
import { hashHistory } from './hash-history.ts'
import type {
  CallState,
  History,
  HistoryInteraction,
  HistoryItem,
  IneligibleReason,
  Part,
  Pins,
  SplitHistory,
} from './history.ts'
import { NO_PINS } from './history.ts'
import { type Draft, type DraftInteraction, partitionHistory, partsByOwner } from './partition.ts'

export interface SplitOptions {
  readonly pins?: Pins
  /** The newest interaction may be replaced as well: for a history that nobody goes on from at this point. */
  readonly newestEligible?: boolean
  /** Id and group of the trajectory; the history's hash when absent. */
  readonly id?: string
  /** What the trajectory's source references name; the id when absent. */
  readonly file?: string
}

/** Every block of every message is in exactly one item; items are in order of their first part. */
export function splitHistory(history: History, options: SplitOptions = {}): SplitHistory {
  const id = options.id ?? hashHistory(history)
  const partition = partitionHistory(history)
  const parts = partsByOwner(partition)
  const trajectory = buildTrajectory(partition.drafts, { history, id, file: options.file ?? id })
  const byIndex = new Map(trajectory.interactions.map((interaction) => [interaction.index, interaction]))
  const newest = trajectory.interactions.at(-1)?.index ?? -1
  const items = partition.drafts.map((draft): HistoryItem => {
    const own = parts[draft.owner] ?? []
    if (draft.kind !== 'interaction') return buildItem(draft, own)
    const state = callState(draft, partition.openBatch)
    const ineligible = whyIneligible(draft, {
      state,
      newest: options.newestEligible === true ? -1 : newest,
      pins: options.pins ?? NO_PINS,
      canonical: byIndex.get(draft.index),
    })
    return { kind: 'interaction', interaction: { index: draft.index, parts: own, state, ineligible } }
  })
  const interactions = items.flatMap((item): readonly HistoryInteraction[] =>
    item.kind === 'interaction' ? [item.interaction] : [],
  )
  return { history, items, interactions, trajectory }
}

function buildItem(draft: Exclude<Draft, { kind: 'interaction' }>, parts: readonly Part[]): HistoryItem {
  if (draft.kind === 'summary') return { kind: 'summary', parts, ...draft.mark }
  return draft.what === 'user' ? { kind: 'user-turn', parts } : { kind: 'pinned', parts, reason: draft.what }
}

/** Unanswered calls are in flight only in the newest batch with nothing but results after it; else they are dead. */
function callState(draft: DraftInteraction, openBatch: number | null): CallState {
  if (draft.calls.every((open) => open.answered)) return 'answered'
  return draft.batch === openBatch ? 'in-flight' : 'dead'
}

function whyIneligible(
  draft: DraftInteraction,
  about: {
    readonly state: CallState
    readonly newest: number
    readonly pins: Pins
    readonly canonical: Interaction | undefined
  },
): IneligibleReason | null {
  if (about.state === 'in-flight') return 'in-flight'
  if (draft.index === about.newest) return 'newest'
  if (about.state === 'dead') return 'dead-call'
  if (draft.opaque) return 'opaque'
  return isPinned(draft, about.pins, about.canonical) ? 'pinned' : null
}

function isPinned(draft: DraftInteraction, pins: Pins, canonical: Interaction | undefined): boolean {
  if (draft.calls.some(({ call }) => pins.toolNames.includes(call.name) || pins.callIds.includes(call.id ?? '')))
    return true
  if (pins.patterns.length === 0 || canonical === undefined) return false
  const text = interactionText(canonical)
  return pins.patterns.some((pattern) => pattern !== '' && text.includes(pattern))
}
