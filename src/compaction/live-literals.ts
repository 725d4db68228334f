/**
 * Live literals of a span: those that the agent still works with (DESIGN section 10). A summary must keep them. Pure.
 */
import { scanLiterals } from '../evidence/literals.ts'
import type { SplitHistory } from '../protocol/history.ts'
import type { SpanRange } from '../router/find-spans.ts'
import { actionText, interactionText } from '../trajectory/interaction-text.ts'
import { endCheckpoint } from '../trajectory/trajectory.ts'

/**
 * Literals of the span that also occur in the pending user turn, in the state (the newest interaction and what follows it)
 * or in the actions of later interactions that stay.
 * @param options.replaced other spans of the same plan: their actions do not stay
 * @returns key (see Literal) -> spelling as in the span, in order of the first occurrence there
 */
export function liveLiterals(
  split: SplitHistory,
  span: SpanRange,
  options: { readonly replaced?: readonly SpanRange[] } = {},
): ReadonlyMap<string, string> {
  const { trajectory } = split
  const newest = endCheckpoint(trajectory) - 1
  const replaced = (index: number): boolean =>
    (options.replaced ?? []).some((other) => index >= other.start && index < other.end)
  const live = new Set<string>()
  const add = (text: string): void => scanLiterals(text, (literal) => live.add(literal.key))
  for (const interaction of trajectory.interactions) {
    if (interaction.index === newest) add(interactionText(interaction))
    else if (interaction.index >= span.end && !replaced(interaction.index)) add(actionText(interaction))
  }
  for (const turn of trajectory.turns) if (turn.kind === 'user' && turn.before > newest) add(turn.text)
  const found = new Map<string, string>()
  for (const interaction of trajectory.interactions) {
    if (interaction.index < span.start || interaction.index >= span.end) continue
    scanLiterals(interactionText(interaction), ({ key, spelling }) => {
      if (live.has(key) && !found.has(key)) found.set(key, spelling)
    })
  }
  return found
}

/** The literals that `text` does not hold, whatever their case. */
export function missingLiterals(text: string, literals: Iterable<string>): readonly string[] {
  const lower = text.toLowerCase()
  return [...literals].filter((literal) => !lower.includes(literal.toLowerCase()))
}
