/**
 * Domain values to response bodies, field by field. A compacted history is spliced from its raw slices, so it is
 * written here as text and never serialised again.
 */
import type { PlannedSpan } from '../../src/compaction/plan.ts'
import { renderMessages } from '../../src/protocol/render-messages.ts'
import type { HistoryCompaction, HistoryPlan, HistoryScore, ScoredInteraction } from '../history-service.ts'
import type { CompactResponse, PlanResponse, ScoreResponse } from './responses.schema.ts'

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

export function planToWire({ plan, operatingPoint, tau, warnings }: HistoryPlan): PlanResponse {
  return {
    base_hash: plan.baseHash,
    operating_point: operatingPoint,
    tau,
    spans: plan.spans.map(spanToWire),
    tokens: { ...plan.tokens },
    warnings: [...warnings],
  }
}

/** The whole response as JSON text: `messages` holds the raw slices byte for byte. */
export function compactionToJson({ compaction, warnings }: HistoryCompaction): string {
  const violations = compaction.violations ?? []
  const rest: Omit<CompactResponse, 'messages'> = {
    outcome: compaction.outcome,
    ...(compaction.reason === null ? {} : { reason: compaction.reason }),
    spans: compaction.spans.map(spanToWire),
    tokens: { ...compaction.tokens },
    base_hash: compaction.baseHash,
    new_hash: compaction.newHash,
    ...(violations.length === 0 ? {} : { violations: violations.map((item) => ({ ...item })) }),
    warnings: [...warnings],
  }
  return `${JSON.stringify(rest).slice(0, -1)},"messages":${renderMessages(compaction.messages)}}`
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
