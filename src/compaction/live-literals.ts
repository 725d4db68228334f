/**
 * Live literals of a span: those that the agent still works with (DESIGN section 10). A summary must keep them. Pure.
 */
import { scanLiterals } from '../evidence/literals.ts'
import type { SplitHistory } from '../protocol/history.ts'
import type { SpanRange } from '../router/find-spans.ts'
import { actionText, interactionText } from '../trajectory/interaction-text.ts'
import { endCheckpoint } from '../trajectory/trajectory.ts'

export interface LiveIndex {
  /** Key (see Literal) -> spelling as in the span, in order of the first occurrence there. */
  ofSpan(span: SpanRange): ReadonlyMap<string, string>
}

/**
 * A literal of a span is live when it also occurs in the pending user turn, in the state (the newest interaction and what
 * follows it) or in the action of a later interaction that stays. One pass over the actions serves all spans of a plan.
 * @param options.replaced spans of the plan: their actions do not stay
 */
export function indexLiveLiterals(
  split: SplitHistory,
  options: { readonly replaced?: readonly SpanRange[] } = {},
): LiveIndex {
  const { interactions, turns } = split.trajectory
  const newest = endCheckpoint(split.trajectory) - 1
  const replaced = (index: number): boolean =>
    (options.replaced ?? []).some((span) => index >= span.start && index < span.end)
  const lastUse = new Map<string, number>()
  for (const interaction of interactions) {
    const { index } = interaction
    if (index !== newest && replaced(index)) continue
    const text = index === newest ? interactionText(interaction) : actionText(interaction)
    scanLiterals(text, ({ key }) => lastUse.set(key, index))
  }
  for (const turn of turns) {
    if (turn.kind === 'user' && turn.before > newest)
      scanLiterals(turn.text, ({ key }) => lastUse.set(key, turn.before))
  }
  return {
    ofSpan(span) {
      const found = new Map<string, string>()
      for (const interaction of interactions) {
        if (interaction.index < span.start || interaction.index >= span.end) continue
        scanLiterals(interactionText(interaction), ({ key, spelling }) => {
          if ((lastUse.get(key) ?? -1) >= span.end && !found.has(key)) found.set(key, spelling)
        })
      }
      return found
    },
  }
}

/** The literals that `text` does not hold, whatever their case. */
export function missingLiterals(text: string, literals: Iterable<string>): readonly string[] {
  const lower = text.toLowerCase()
  return [...literals].filter((literal) => !lower.includes(literal.toLowerCase()))
}
