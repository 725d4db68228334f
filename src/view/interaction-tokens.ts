/**
 * How long an interaction is for the frozen LM, whole and untruncated. Pure.
 */
import { actionText, observationText, reasoningText } from '../trajectory/interaction-text.ts'
import type { Interaction } from '../trajectory/trajectory.ts'
import type { ViewEncoder } from './view-encoder.ts'

/**
 * Sum over reasoning, action and observation, each encoded on its own as in a view, without labels. Exact up to the
 * encoder's window per part, extrapolated beyond (view-encoder.ts).
 */
export function interactionTokens(encoder: ViewEncoder, interaction: Interaction): number {
  const parts = [reasoningText(interaction), actionText(interaction), observationText(interaction)]
  return parts.reduce((sum, part) => sum + encoder.encode(part).tokenCount, 0)
}
