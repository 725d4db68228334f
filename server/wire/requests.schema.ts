/**
 * Request bodies. The provider's own fields (messages, system, tools, model ...) stand beside ours as the provider has
 * them, so unknown keys pass; the history itself is read from the raw text by parseHistory, never from here.
 */
import { z } from 'zod'
import { HISTORY_FORMATS, type HistoryFormat, type Pins } from '../../src/protocol/history.ts'
import { OPERATING_POINT_NAMES, type OperatingPointName } from '../../src/router/operating-points.ts'
import { parseRequest } from './parse-request.ts'

const pins = z.strictObject({
  tool_names: z.array(z.string()).default([]).describe('interactions that call one of these tools are never touched'),
  patterns: z.array(z.string().min(1)).default([]).describe('interactions whose text holds one of these strings'),
  call_ids: z.array(z.string()).default([]).describe('interactions with one of these tool-call ids'),
})

const history = z.looseObject({
  format: z.enum(HISTORY_FORMATS).describe("the provider's message format"),
  messages: z.array(z.unknown()).min(1).describe('the message list exactly as you send it to the provider'),
})

const scored = history.extend({
  operating_point: z.enum(OPERATING_POINT_NAMES).optional().describe("default: the server's"),
  pins: pins.optional(),
})

const planned = scored.extend({
  limits: z
    .strictObject({
      min_span_interactions: z.number().int().min(0).optional().describe('kappa: a span needs more than this many'),
      min_source_tokens: z.number().int().min(0).optional().describe("B_min, in the acting model's tokens"),
    })
    .optional(),
  labels: z
    .array(z.strictObject({ interaction: z.number().int().min(0), label: z.enum(['READY', 'KEEP']) }))
    .optional()
    .describe('your own verdicts: no router is asked and the length and source-tokens gates are open'),
})

export const validateBody = history
export const scoreBody = scored
export const planBody = planned
export const compactBody = planned

export interface ScoreRequest {
  readonly format: HistoryFormat
  readonly operatingPoint: OperatingPointName | null
  readonly pins: Pins
}

export interface PlanRequest extends ScoreRequest {
  readonly minSpanInteractions: number | null
  readonly minSourceTokens: number | null
  /** Canonical indices the caller calls READY; null: ask the router. */
  readonly labelledReady: ReadonlySet<number> | null
}

/** @throws request-invalid naming the field */
export function parseValidateRequest(body: unknown): { readonly format: HistoryFormat } {
  return { format: parseRequest(validateBody, body).format }
}

/** @throws request-invalid naming the field */
export function parseScoreRequest(body: unknown): ScoreRequest {
  return scoreRequestOf(parseRequest(scoreBody, body))
}

/** @throws request-invalid naming the field */
export function parsePlanRequest(body: unknown): PlanRequest {
  const request = parseRequest(planBody, body)
  const ready = request.labels?.filter(({ label }) => label === 'READY').map(({ interaction }) => interaction)
  return {
    ...scoreRequestOf(request),
    minSpanInteractions: request.limits?.min_span_interactions ?? null,
    minSourceTokens: request.limits?.min_source_tokens ?? null,
    labelledReady: ready === undefined ? null : new Set(ready),
  }
}

function scoreRequestOf(request: z.infer<typeof scored>): ScoreRequest {
  return {
    format: request.format,
    operatingPoint: request.operating_point ?? null,
    pins: {
      toolNames: request.pins?.tool_names ?? [],
      patterns: request.pins?.patterns ?? [],
      callIds: request.pins?.call_ids ?? [],
    },
  }
}
