/**
 * `compact`: repair, then labels or a policy, then plan and apply, then the target's form. Labels and policies bypass kappa
 * and B_min, never shrink and validity (DESIGN section 10).
 */
import { actingTokenizer } from '../../../models/tokenizer/acting-tokens.ts'
import { applyPlan } from '../../compaction/apply-plan.ts'
import { type CutPolicy, readyByPolicy } from '../../compaction/cut-policy.ts'
import { summarisePlan } from '../../compaction/extractive-summary.ts'
import type { Compaction, Plan } from '../../compaction/plan.ts'
import { DEFAULT_PLAN_LIMITS, planCompaction } from '../../compaction/plan-compaction.ts'
import { readSummaryReply, type SummaryReply } from '../../compaction/summary-reply.ts'
import type { History, JsonValue, SplitHistory } from '../../protocol/history.ts'
import { readSegments } from '../../protocol/read-segments.ts'
import { renderMessages } from '../../protocol/render-messages.ts'
import { repairHistory } from '../../protocol/repair/repair-history.ts'
import { isObject, type JsonObject } from '../../protocol/segment.ts'
import { splitHistory } from '../../protocol/split-history.ts'
import { truncateObservations } from '../../protocol/truncate-observations.ts'
import type { CaseFile } from './case-file.schema.ts'
import { type Performed, renderFor, toJson } from './render-for.ts'

const OPEN_GATES = { ...DEFAULT_PLAN_LIMITS, minSpanInteractions: 0, minSourceTokens: 0 }
const { countTokens } = actingTokenizer(null)

export function compactCase(given: CaseFile, history: History): Performed {
  const { params } = given
  const repaired = repairHistory(history)
  const limit = params.maxObservationChars
  const cut = typeof limit === 'number' ? truncateObservations(repaired.history, { maxChars: limit }) : repaired.history
  const split = splitHistory(cut, { newestEligible: params.compactFinalAssistant === true })
  const plan = planOf(given, { split, given: history })
  const done = compact(given, { split, plan }, null)
  const replies = repliesOf(params).map((reply) => tryReply(given, { split, plan }, reply))
  const last = repliesOf(params).at(-1)
  const shown = last === undefined ? done : compact(given, { split, plan }, last)
  const { rendered, losses } = renderFor(given, { ...cut, messages: shown.messages })
  return {
    rendered,
    output: {
      outcome: shown.outcome,
      reason: shown.reason,
      unchanged: renderMessages(shown.messages) === renderMessages(history.messages),
      changes: toJson(repaired.changes),
      spans: toJson(plan.spans),
      tokens: { ...shown.tokens },
      losses: [...losses],
      replies,
      observations: observationLengths(history, rendered),
    },
  }
}

interface Histories {
  /** Repaired: what is planned on. */
  readonly split: SplitHistory
  /** As it came: what a policy looks at. */
  readonly given: History
}

function planOf(given: CaseFile, histories: Histories): Plan {
  const { split } = histories
  const ready = readyOf(given, histories)
  if (split.interactions.every((interaction) => interaction.state !== 'answered'))
    return { baseHash: '', spans: [], tokens: { before: 0, after: 0 } }
  return planCompaction({ split, ready, limits: OPEN_GATES, countTokens })
}

function readyOf({ params }: CaseFile, { split, given }: Histories): ReadonlySet<number> {
  const { labels } = params
  if (Array.isArray(labels)) return new Set(labels.flatMap((label, index) => (label === 'READY' ? [index] : [])))
  const policy = policyOf(params)
  if (policy === null) return new Set()
  // A repair may move a user message out of an interaction, which does not make it a safe place to cut.
  const original = splitHistory(given)
  return readyByPolicy(original.interactions.length === split.interactions.length ? original : split, policy)
}

function policyOf(params: JsonObject): CutPolicy | null {
  const count = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : 0)
  switch (params.policy) {
    case 'keep-last-messages':
      return { kind: 'keep-last-messages', count: count(params.keepLastMessages) }
    case 'keep-last-interactions':
      return { kind: 'keep-last-interactions', count: count(params.keepLastInteractions) }
    case 'drop-oldest-until':
      return { kind: 'drop-oldest-until', maxMessages: count(params.maxMessages) }
    case 'cut-at-user-message':
      return { kind: 'cut-at-user-message' }
    default:
      return null
  }
}

/** Replies of a summariser that the case prescribes; without any the offline summariser writes. */
function repliesOf(params: JsonObject): readonly SummaryReply[] {
  const given = Array.isArray(params.summarizerReplies) ? params.summarizerReplies : [params.summarizerReply]
  return given.flatMap((reply: JsonValue | undefined): readonly SummaryReply[] => {
    if (typeof reply === 'string') return [{ text: reply, stopReason: null, toolCalls: 0 }]
    if (!isObject(reply)) return []
    return [
      {
        text: typeof reply.text === 'string' ? reply.text : '',
        stopReason: typeof reply.stopReason === 'string' ? reply.stopReason : null,
        toolCalls: typeof reply.toolCalls === 'number' ? reply.toolCalls : 0,
      },
    ]
  })
}

interface Planned {
  readonly split: SplitHistory
  readonly plan: Plan
}

/** An unusable reply is no summary: the plan finds none for its spans, and nothing is committed. */
function compact(given: CaseFile, { split, plan }: Planned, reply: SummaryReply | null): Compaction {
  const read = reply === null ? null : readSummaryReply(reply)
  const summaries =
    read === null
      ? summarisePlan({ split, plan, countTokens })
      : new Map('summary' in read ? plan.spans.map((span) => [span.start, read.summary] as const) : [])
  const { thinkingBinding } = given.params
  return applyPlan({
    split,
    plan,
    summaries,
    countTokens,
    thinkingBinding: thinkingBinding === 'prefix' || thinkingBinding === 'none' ? thinkingBinding : 'auto',
  })
}

function tryReply(given: CaseFile, planned: Planned, reply: SummaryReply): JsonObject {
  const read = readSummaryReply(reply)
  const done = compact(given, planned, reply)
  return {
    fault: 'fault' in read ? read.fault : null,
    outcome: done.outcome,
    reason: done.reason,
    unchanged: done.messages === planned.split.history.messages,
  }
}

/** How much of each result of the input still stands in the rendered history, whatever marker stands for the rest. */
function observationLengths(input: History, rendered: History): readonly JsonObject[] {
  const originals = resultTexts(input)
  const texts = resultTexts(rendered)
  if (originals.length !== texts.length) return []
  return texts.map((text, number) => ({ chars: text.length, kept_chars: keptChars(originals[number] ?? '', text) }))
}

function resultTexts(history: History): readonly string[] {
  return history.messages.flatMap((message, number) =>
    readSegments(history, message, number).flatMap((segment) => (segment.kind === 'result' ? [segment.content] : [])),
  )
}

/** Characters at both ends that are the original's. */
function keptChars(original: string, text: string): number {
  if (original === text) return text.length
  const most = Math.min(original.length, text.length)
  let head = 0
  while (head < most && original[head] === text[head]) head += 1
  let tail = 0
  while (tail < most - head && original.at(-1 - tail) === text.at(-1 - tail)) tail += 1
  return head + tail
}
