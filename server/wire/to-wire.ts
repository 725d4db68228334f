/**
 * Domain values to response bodies, field by field. A compacted history is spliced from its raw slices, so it is
 * written here as text and never serialised again.
 */
import type { ActingEncoding } from '../../models/tokenizer/acting-tokens.ts'
import type { Plan, PlannedSpan } from '../../src/compaction/plan.ts'
import type { HistoryMessage } from '../../src/protocol/history.ts'
import { renderMessages } from '../../src/protocol/render-messages.ts'
import type { Change } from '../../src/protocol/repair/change.ts'
import type {
  HistoryCompaction,
  HistoryPlan,
  HistoryRepair,
  HistoryScore,
  ScoredInteraction,
} from '../history-service.ts'
import type { CompactResponse, PlanResponse, ScoreResponse, ValidateResponse } from './responses.schema.ts'

export function scoreToWire(score: HistoryScore, representationId: string | null): ScoreResponse {
  return {
    representation_id: representationId,
    operating_point: score.operatingPoint,
    tau: score.tau,
    base_hash: score.baseHash,
    checkpoint: score.checkpoint,
    interactions: score.interactions.map(interactionToWire),
    warnings: [...score.warnings],
  }
}

function interactionToWire({
  interaction,
  logit,
  decision,
  ready,
  sourceTokens,
}: ScoredInteraction): ScoreResponse['interactions'][number] {
  return {
    interaction: interaction.index,
    parts: interaction.parts.map(({ message, blocks }) => ({
      message,
      ...(blocks === undefined ? {} : { blocks: [blocks[0], blocks[1]] as [number, number] }),
    })),
    eligible: interaction.ineligible === null,
    ...(interaction.ineligible === null ? {} : { reason: interaction.ineligible }),
    p: decision?.p ?? null,
    logit,
    margin: decision?.margin ?? null,
    ready,
    source_tokens: sourceTokens,
  }
}

export function planToWire({ plan, operatingPoint, tau, changes, encoding, warnings }: HistoryPlan): PlanResponse {
  return {
    base_hash: plan.baseHash,
    operating_point: operatingPoint,
    tau,
    spans: plan.spans.map(spanToWire),
    tokens: tokensToWire(plan.tokens, encoding),
    ...changesToWire(changes),
    warnings: [...warnings],
  }
}

/** The whole response as JSON text: the list holds the raw slices byte for byte, in the field that the request had. */
export function compactionToJson({ compaction, listField, changes, encoding, warnings }: HistoryCompaction): string {
  const violations = compaction.violations ?? []
  const rest: CompactResponse = {
    outcome: compaction.outcome,
    ...(compaction.reason === null ? {} : { reason: compaction.reason }),
    spans: compaction.spans.map(spanToWire),
    tokens: tokensToWire(compaction.tokens, encoding),
    base_hash: compaction.baseHash,
    new_hash: compaction.newHash,
    ...(violations.length === 0 ? {} : { violations: violations.map((item) => ({ ...item })) }),
    ...changesToWire(changes),
    ...(compaction.strippedThinking === undefined ? {} : { stripped_thinking: [...compaction.strippedThinking] }),
    warnings: [...warnings],
  }
  return withList(rest, listField, compaction.messages)
}

/** The answer to a validation that asks for the repair: the repaired list in the field that the request had. */
export function repairToJson({ violations, repair }: HistoryRepair): string {
  const rest: ValidateResponse = {
    valid: violations.length === 0,
    violations: violations.map((item) => ({ ...item })),
    changes: repair.changes.map((item) => ({ ...item })),
    remaining: repair.remaining.map((item) => ({ ...item })),
  }
  return withList(rest, repair.history.listField, repair.history.messages)
}

function withList(rest: object, listField: string, messages: readonly HistoryMessage[]): string {
  return `${JSON.stringify(rest).slice(0, -1)},${JSON.stringify(listField)}:${renderMessages(messages)}}`
}

function changesToWire(changes: readonly Change[]): { changes?: Change[] } {
  return changes.length === 0 ? {} : { changes: changes.map((item) => ({ ...item })) }
}

function tokensToWire(tokens: Plan['tokens'], encoding: ActingEncoding): PlanResponse['tokens'] {
  return { ...tokens, encoding: encoding.name, estimate: encoding.isEstimate }
}

function spanToWire(span: PlannedSpan): PlanResponse['spans'][number] {
  return {
    start: span.start,
    end: span.end,
    source_tokens: span.sourceTokens,
    gates: span.gates.map((gate) => ({ ...gate })),
    accepted: span.accepted,
  }
}
