/**
 * Decides what would be replaced, and does nothing: the plan is a value that can be printed, stored and refused
 * (DESIGN section 10). Pure. Doing is apply-plan.ts.
 */
import { hashHistory } from '../protocol/hash-history.ts'
import type { SplitHistory } from '../protocol/history.ts'
import { requireCompleteInteraction } from '../protocol/require-complete-interaction.ts'
import { findSpans } from '../router/find-spans.ts'
import { type GateLimits, judgeSpan } from '../router/gates.ts'
import { buildTokenTable, type CountTokens, MESSAGE_TOKENS } from './count-history.ts'
import type { Plan, PlannedSpan } from './plan.ts'
import { renderSummaryText } from './summary-message.ts'

export interface PlanLimits extends GateLimits {
  /** A summary may take at most this share of its source, 0 < share < 1. Assumption: 0.25. */
  readonly maxSummaryShare?: number
  /** And at most this many acting-model tokens. Assumption: 1,200, about two pages. */
  readonly maxSummaryTokens?: number
}

export const DEFAULT_PLAN_LIMITS = {
  minSpanInteractions: 3,
  minSourceTokens: 1000,
  maxSummaryShare: 0.25,
  maxSummaryTokens: 1200,
} as const satisfies PlanLimits

/** Fewer cannot say anything: a span too short for this fails the shrink gate instead of getting no summary. Assumption. */
const MIN_SUMMARY_TOKENS = 32

/** Acting-model tokens that the summary of a span may have: what a summariser is asked to stay within. */
export function summaryBudget(sourceTokens: number, limits: PlanLimits = DEFAULT_PLAN_LIMITS): number {
  const share = limits.maxSummaryShare ?? DEFAULT_PLAN_LIMITS.maxSummaryShare
  const most = limits.maxSummaryTokens ?? DEFAULT_PLAN_LIMITS.maxSummaryTokens
  return Math.max(MIN_SUMMARY_TOKENS, Math.min(most, Math.floor(share * sourceTokens)))
}

/**
 * @param input.ready canonical indices that are READY at the history's checkpoint
 * @returns every span with every gate's verdict; at most floor(N / (kappa + 1)) of them are accepted
 * @throws history-incomplete
 */
export function planCompaction(input: {
  readonly split: SplitHistory
  readonly ready: ReadonlySet<number>
  readonly limits: PlanLimits
  readonly countTokens: CountTokens
}): Plan {
  const { split, ready, limits, countTokens } = input
  requireCompleteInteraction(split)
  const table = buildTokenTable(split.history, countTokens)
  const baseHash = hashHistory(split.history)
  const partsOf = new Map(split.interactions.map((interaction) => [interaction.index, interaction.parts]))
  let after = table.total
  const spans = findSpans(split, ready).map(({ start, end }): PlannedSpan => {
    let sourceTokens = 0
    for (let index = start; index < end; index++) sourceTokens += table.ofParts(partsOf.get(index) ?? [])
    const frame = countTokens(renderSummaryText({ id: baseHash.slice(0, 12), start, end }, '')) + MESSAGE_TOKENS
    const predictedTokens = frame + summaryBudget(sourceTokens, limits)
    const gates = judgeSpan({ interactions: end - start, sourceTokens, predictedTokens }, limits)
    const accepted = gates.every((gate) => gate.pass)
    if (accepted) after += predictedTokens - sourceTokens
    return { start, end, sourceTokens, gates, accepted }
  })
  return { baseHash, spans, tokens: { before: table.total, after } }
}
