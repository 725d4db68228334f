/**
 * The naive ways to shorten a history (keep the last N messages and the like), expressed as what they would replace, whole
 * interactions only: a cut can then never part a call from its results (../shared/cases 01, 02, 03, 07). Pure.
 */
import type { HistoryInteraction, SplitHistory } from '../protocol/history.ts'

export type CutPolicy =
  | { readonly kind: 'keep-last-messages'; readonly count: number }
  | { readonly kind: 'drop-oldest-until'; readonly maxMessages: number }
  | { readonly kind: 'keep-last-interactions'; readonly count: number }
  /** Everything before the newest user turn that no call is waiting across. */
  | { readonly kind: 'cut-at-user-message' }

/**
 * @returns canonical indices of the interactions that lie wholly on the far side of the cut and may be replaced: the cut
 * moves back to the boundary of the interaction that it would split
 */
export function readyByPolicy(split: SplitHistory, policy: CutPolicy): ReadonlySet<number> {
  const free = split.interactions.filter((interaction) => interaction.ineligible === null)
  switch (policy.kind) {
    case 'keep-last-messages':
      return before(free, split.history.messages.length - policy.count)
    case 'keep-last-interactions': {
      const kept = new Set(split.interactions.slice(-policy.count).map(({ index }) => index))
      return new Set(free.map(({ index }) => index).filter((index) => policy.count === 0 || !kept.has(index)))
    }
    case 'drop-oldest-until':
      return oldestUntil(split, free, policy.maxMessages)
    case 'cut-at-user-message':
      return before(free, safeUserMessage(split))
    default:
      return policy satisfies never
  }
}

/** Interactions of which no part stands at or after message `cut`. */
function before(interactions: readonly HistoryInteraction[], cut: number): ReadonlySet<number> {
  return new Set(
    interactions.filter(({ parts }) => parts.every((part) => part.message < cut)).map(({ index }) => index),
  )
}

/** The oldest first, until what is left and one summary per gap would be few enough; all of them where nothing is. */
function oldestUntil(
  split: SplitHistory,
  free: readonly HistoryInteraction[],
  maxMessages: number,
): ReadonlySet<number> {
  const ready = new Set<number>()
  let left = split.history.messages.length
  let last: number | null = null
  for (const { index, parts } of free) {
    if (left <= maxMessages) break
    ready.add(index)
    // A run of neighbours becomes one summary message.
    left -= parts.filter((part) => part.blocks === undefined).length - (last === index - 1 ? 0 : 1)
    last = index
  }
  return ready
}

/** Message number of the newest user turn that stands between interactions; 0 where there is none. */
function safeUserMessage(split: SplitHistory): number {
  const crosses = (message: number): boolean =>
    split.interactions.some(
      ({ parts }) => parts.some((part) => part.message < message) && parts.some((part) => part.message > message),
    )
  const turns = split.items.flatMap((item) =>
    item.kind === 'user-turn' ? item.parts.slice(0, 1).map((part) => part.message) : [],
  )
  return turns.findLast((message) => !crosses(message)) ?? 0
}
