/**
 * Does what a plan says, or nothing: all spans in one transaction, and on any other outcome than `applied` the input's
 * messages come back as they were (DESIGN section 10). Pure.
 */
import { hashHistory } from '../protocol/hash-history.ts'
import type { History, Part, SplitHistory, Violation } from '../protocol/history.ts'
import { splitHistory } from '../protocol/split-history.ts'
import { isPrefixBound, stripBoundThinking, type ThinkingBinding } from '../protocol/thinking-binding.ts'
import { blockingViolations, validateHistory } from '../protocol/validate-history.ts'
import { neutraliseMarkup, summaryFault } from './check-summary.ts'
import { buildTokenTable, type CountTokens, countMessage } from './count-history.ts'
import { indexLiveLiterals, type LiveIndex, missingLiterals } from './live-literals.ts'
import type { Compaction, Outcome, OutcomeReason, Plan, PlannedSpan } from './plan.ts'
import { type Replacement, replaceSpans } from './replace-spans.ts'
import { renderSummaryMessage } from './summary-message.ts'

export interface ApplyInput {
  readonly split: SplitHistory
  readonly plan: Plan
  /** By canonical start of the span; one for every accepted span. */
  readonly summaries: ReadonlyMap<number, string>
  readonly countTokens: CountTokens
  /** What an edit does to the signed thinking behind it (reference/protocol.md, A10); default: auto. */
  readonly thinkingBinding?: ThinkingBinding
}

/** Never throws for what is in the history, the plan or the summaries: the outcome and its reason say what happened. */
export function applyPlan(input: ApplyInput): Compaction {
  const { split, plan } = input
  const { history } = split
  const baseHash = hashHistory(history)
  const stop = (outcome: Outcome, reason: OutcomeReason, violations: readonly Violation[] = []): Compaction => ({
    outcome,
    reason,
    messages: history.messages,
    spans: plan.spans,
    tokens: { before: plan.tokens.before, after: plan.tokens.before },
    baseHash,
    newHash: baseHash,
    violations,
  })
  const accepted = plan.spans.filter((span) => span.accepted)
  if (baseHash !== plan.baseHash || !areReplaceable(split, accepted)) return stop('rejected', 'plan-stale')
  const inputViolations = validateHistory(history)
  if (blockingViolations(inputViolations).length > 0) return stop('rejected', 'input-invalid', inputViolations)
  if (accepted.length === 0) return stop('noop', whyNothing(plan))

  const live = indexLiveLiterals(split, { replaced: accepted })
  const replacements: Replacement[] = []
  for (const span of accepted) {
    const made = makeReplacement(input, span, live)
    if (typeof made === 'string') return stop(made === 'no_gain' ? 'noop' : 'failed', made)
    replacements.push(made)
  }
  const replaced = replaceSpans(history, replacements)
  const { messages, stripped } = isPrefixBound(history, input.thinkingBinding ?? 'auto')
    ? stripBoundThinking(history, replaced)
    : { messages: replaced, stripped: [] }
  const result: History = { ...history, messages }
  const outputViolations = newViolations(inputViolations, validateHistory(result))
  if (outputViolations.length > 0 || !keepsIndices(split, accepted, result))
    return stop('failed', 'output-invalid', outputViolations)
  const after = buildTokenTable(result, input.countTokens).total
  if (after >= buildTokenTable(history, input.countTokens).total) return stop('noop', 'no_gain')
  return {
    outcome: 'applied',
    reason: null,
    messages,
    spans: plan.spans,
    tokens: { before: plan.tokens.before, after },
    baseHash,
    newHash: hashHistory(result),
    ...(stripped.length === 0 ? {} : { strippedThinking: stripped }),
  }
}

/** A plan is a value from outside: its spans must be disjoint runs of interactions that may be touched. */
function areReplaceable(split: SplitHistory, spans: readonly PlannedSpan[]): boolean {
  const eligible = new Set(
    split.interactions.filter((interaction) => interaction.ineligible === null).map(({ index }) => index),
  )
  return spans.every((span, number) => {
    if (span.end <= span.start || span.start < (spans[number - 1]?.end ?? 0)) return false
    for (let index = span.start; index < span.end; index++) if (!eligible.has(index)) return false
    return true
  })
}

function whyNothing(plan: Plan): OutcomeReason {
  if (plan.spans.length === 0) return 'nothing-ready'
  const onlyShrink = plan.spans.some((span) => span.gates.every((gate) => gate.pass || gate.name === 'shrink'))
  return onlyShrink ? 'no_gain' : 'no-span-passed'
}

function makeReplacement(
  { split, summaries, plan, countTokens }: ApplyInput,
  span: PlannedSpan,
  live: LiveIndex,
): Replacement | 'summary-invalid' | 'no_gain' {
  const given = summaries.get(span.start)
  if (given === undefined || summaryFault(given) !== null) return 'summary-invalid'
  const missing = missingLiterals(given, live.ofSpan(span).values())
  const content =
    missing.length === 0
      ? given
      : `${given.trim()}\nalso referenced later: ${missing.map(neutraliseMarkup).join(' | ')}`
  const parts = partsOfSpan(split, span)
  const mark = { id: `${plan.baseHash.slice(0, 12)}-${span.start}`, start: span.start, end: span.end }
  const summary = renderSummaryMessage(split.history, { mark, content, index: parts[0]?.message ?? 0 })
  const shorter = countMessage(split.history, summary, countTokens) < span.sourceTokens
  return shorter ? { parts, summary } : 'no_gain'
}

function partsOfSpan(split: SplitHistory, span: PlannedSpan): readonly Part[] {
  return split.interactions
    .filter(({ index }) => index >= span.start && index < span.end)
    .flatMap((interaction) => interaction.parts)
}

/** Blocking ones, and advisory ones of a rule that the input kept. */
function newViolations(before: readonly Violation[], after: readonly Violation[]): readonly Violation[] {
  const known = new Set(before.map((violation) => violation.rule))
  return after.filter((violation) => violation.advisory !== true || !known.has(violation.rule))
}

/** Canonical indices never change: the new history must read back as the old one with gaps. */
function keepsIndices(split: SplitHistory, spans: readonly PlannedSpan[], result: History): boolean {
  const expected = split.interactions
    .map(({ index }) => index)
    .filter((index) => !spans.some((span) => index >= span.start && index < span.end))
  const found = splitHistory(result).interactions.map(({ index }) => index)
  return found.length === expected.length && found.every((index, number) => index === expected[number])
}
