/**
 * The offline summariser: deterministic, no model, only text that stands in the span (DESIGN section 10). Pure.
 */
import type { SplitHistory } from '../protocol/history.ts'
import { cutText } from '../protocol/well-formed.ts'
import { neutraliseMarkup } from './check-summary.ts'
import type { CountTokens } from './count-history.ts'
import { type CandidateNote, extractNotes } from './extract-notes.ts'
import { indexLiveLiterals, missingLiterals } from './live-literals.ts'
import type { Plan, PlannedSpan } from './plan.ts'
import { summaryBudget } from './plan-compaction.ts'
import { renderSummaryLists, type SummaryNote } from './summary-lists.ts'

/** Share of the budget that may go to bare live literals, those that no kept note holds. Assumption. */
const LITERAL_SHARE = 0.5

/**
 * Summaries of all accepted spans of a plan, by canonical start, each within `summaryBudget` of its source: what applyPlan
 * takes. One pass over the history finds what is live for all of them.
 */
export function summarisePlan(input: {
  readonly split: SplitHistory
  readonly plan: Plan
  readonly countTokens: CountTokens
}): ReadonlyMap<number, string> {
  const { split, plan, countTokens } = input
  const live = indexLiveLiterals(split)
  return new Map(
    plan.spans
      .filter((span) => span.accepted)
      .map((span) => {
        const maxTokens = summaryBudget(span.sourceTokens)
        return [span.start, summariseSpan({ split, span, maxTokens, countTokens }, live.ofSpan(span))]
      }),
  )
}

export interface SpanSummaryInput {
  readonly split: SplitHistory
  readonly span: PlannedSpan
  /** Bound on the returned text, in the unit of countTokens. */
  readonly maxTokens: number
  readonly countTokens: CountTokens
}

/** @returns the six lists of one span; "" when not even the start of one note fits */
export function summariseExtractively(input: SpanSummaryInput): string {
  return summariseSpan(input, indexLiveLiterals(input.split).ofSpan(input.span))
}

function summariseSpan(input: SpanSummaryInput, live: ReadonlyMap<string, string>): string {
  const { split, span, maxTokens, countTokens } = input
  const spellings = [...live.values()].map(neutraliseMarkup)
  const keys = new Set(live.keys())
  const candidates = split.trajectory.interactions
    .filter(({ index }) => index >= span.start && index < span.end)
    .flatMap((interaction) => extractNotes(interaction, keys))
  const reserved = literalNote(spellings, { maxTokens: maxTokens * LITERAL_SHARE, countTokens })
  const kept = pick(candidates, {
    maxTokens: maxTokens - (reserved === null ? 0 : countTokens(reserved.text)),
    countTokens,
  })
  const fitted = (notes: readonly SummaryNote[]): string | null => {
    const missing = missingLiterals(renderSummaryLists(notes), spellings)
    const literals = literalNote(missing, { maxTokens: maxTokens * LITERAL_SHARE, countTokens })
    const text = renderSummaryLists(literals === null ? notes : [...notes, literals])
    return countTokens(text) <= maxTokens ? text : null
  }
  // Headings cost tokens that pick does not see, so the last notes may have to go again.
  for (; kept.length > 0; kept.pop()) {
    const text = fitted(kept)
    if (text !== null) return text
  }
  return fitted(shortenBest(candidates, { maxTokens, countTokens })) ?? fitted([]) ?? ''
}

/** Best first, equal ones in order of the source, repeated texts once; as many as fit. */
function pick(
  candidates: readonly CandidateNote[],
  budget: { readonly maxTokens: number; readonly countTokens: CountTokens },
): CandidateNote[] {
  const seen = new Set<string>()
  const kept: CandidateNote[] = []
  let used = 0
  for (const note of [...candidates].sort((a, b) => b.score - a.score || a.order - b.order)) {
    if (seen.has(note.text)) continue
    seen.add(note.text)
    const cost = budget.countTokens(`- ${note.text}\n`)
    if (used + cost > budget.maxTokens) continue
    used += cost
    kept.push(note)
  }
  return kept
}

/** The best note alone, cut by half until it fits. */
function shortenBest(
  candidates: readonly CandidateNote[],
  { maxTokens, countTokens }: { readonly maxTokens: number; readonly countTokens: CountTokens },
): readonly CandidateNote[] {
  const best = candidates.reduce<CandidateNote | null>(
    (top, note) => (top === null || note.score > top.score ? note : top),
    null,
  )
  if (best === null) return []
  for (let chars = best.text.length; chars >= 8; chars = Math.floor(chars / 2)) {
    const note = { ...best, text: cutText(best.text, chars) }
    if (countTokens(renderSummaryLists([note])) <= maxTokens) return [note]
  }
  return []
}

/** One note that holds as many of the literals as fit, earliest first. */
function literalNote(
  literals: readonly string[],
  budget: { readonly maxTokens: number; readonly countTokens: CountTokens },
): SummaryNote | null {
  let used = 0
  const held: string[] = []
  for (const literal of literals) {
    const cost = budget.countTokens(`${literal} | `)
    if (used + cost > budget.maxTokens) break
    used += cost
    held.push(literal)
  }
  if (held.length === 0) return null
  return { list: 'locations', text: `still in use: ${held.join(' | ')}`, order: Number.MAX_SAFE_INTEGER }
}
