/**
 * The gates a span passes before anything is rewritten (paper 4.3, E; DESIGN section 10). Pure.
 * Every gate is judged, also after one has failed: a plan shows each verdict with its number.
 */
import type { GateVerdict } from '../compaction/plan.ts'

export interface GateLimits {
  /** kappa: a span needs MORE than this many interactions (paper: 3). */
  readonly minSpanInteractions: number
  /** B_min: a span needs at least this many acting-model tokens (paper: 1,000). */
  readonly minSourceTokens: number
}

/**
 * @param span.interactions how many
 * @param span.sourceTokens acting-model tokens of what would go
 * @param span.predictedTokens acting-model tokens of the message that would take its place
 * @returns length (value > limit), source-tokens (value >= limit), shrink (value < limit), in this order
 */
export function judgeSpan(
  span: { readonly interactions: number; readonly sourceTokens: number; readonly predictedTokens: number },
  limits: GateLimits,
): readonly GateVerdict[] {
  const { interactions, sourceTokens, predictedTokens } = span
  return [
    {
      name: 'length',
      pass: interactions > limits.minSpanInteractions,
      value: interactions,
      limit: limits.minSpanInteractions,
    },
    {
      name: 'source-tokens',
      pass: sourceTokens >= limits.minSourceTokens,
      value: sourceTokens,
      limit: limits.minSourceTokens,
    },
    { name: 'shrink', pass: predictedTokens < sourceTokens, value: predictedTokens, limit: sourceTokens },
  ]
}
