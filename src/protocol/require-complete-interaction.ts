/**
 * Scoring and planning need something to judge; parsing and validating do not. Pure.
 */
import { AppError } from '../errors.ts'
import type { SplitHistory } from './history.ts'

/** @throws history-incomplete when no interaction has all its results */
export function requireCompleteInteraction(split: SplitHistory): void {
  if (split.interactions.some((interaction) => interaction.state === 'answered')) return
  const { messages } = split.history
  throw new AppError(
    'history-incomplete',
    `the history has no complete interaction (${messages.length} messages, ${split.interactions.length} model calls): there is nothing to score or plan until the agent has acted and seen the results`,
    { details: { messages: messages.length, interactions: split.interactions.length } },
  )
}
