/**
 * Response bodies, snake_case. The contract test parses everything we send with these.
 */
import { z } from 'zod'
import { HISTORY_FORMATS } from '../../src/protocol/history.ts'
import { OPERATING_POINT_NAMES } from '../../src/router/operating-points.ts'

const tokens = z.strictObject({ before: z.number(), after: z.number() })

const part = z.strictObject({
  message: z.number().int().describe('index into messages'),
  blocks: z
    .tuple([z.number().int(), z.number().int()])
    .optional()
    .describe('half-open range of content blocks; absent: all'),
})

const interaction = z.strictObject({
  interaction: z.number().int().describe('canonical index, 0-based; never changes after a compaction'),
  parts: z.array(part),
  eligible: z.boolean(),
  reason: z
    .enum(['newest', 'in-flight', 'pinned', 'dead-call', 'opaque'])
    .optional()
    .describe('why it is not eligible'),
  p: z.number().nullable().describe('readiness in [0, 1]; null: not scored'),
  logit: z.number().nullable(),
  margin: z.number().nullable().describe('|logit - logit(tau)|'),
  ready: z.boolean(),
  source_tokens: z.number().int(),
})

export const scoreResponse = z.strictObject({
  representation_id: z.string().nullable(),
  operating_point: z.enum(OPERATING_POINT_NAMES),
  tau: z
    .number()
    .nullable()
    .describe('null: no threshold was precise enough in validation, so READY is never predicted'),
  base_hash: z.string(),
  checkpoint: z.number().int(),
  interactions: z.array(interaction),
  warnings: z.array(z.string()),
})

const gate = z.strictObject({
  name: z.enum(['length', 'source-tokens', 'shrink']),
  pass: z.boolean(),
  value: z.number(),
  limit: z.number(),
})

const span = z.strictObject({
  start: z.number().int().describe('first canonical interaction'),
  end: z.number().int().describe('one past the last'),
  source_tokens: z.number().int(),
  gates: z.array(gate),
  accepted: z.boolean(),
})

export const planResponse = z.strictObject({
  base_hash: z.string(),
  operating_point: z.enum(OPERATING_POINT_NAMES),
  tau: z.number().nullable(),
  spans: z.array(span),
  tokens: tokens.describe("by the acting model's tokenizer (o200k: an estimate); after is predicted"),
  warnings: z.array(z.string()),
})

const violation = z.strictObject({
  rule: z.string(),
  pointer: z.string(),
  message: z.string(),
  advisory: z.literal(true).optional().describe('some hosts only: no reason to refuse a compaction'),
})

export const compactResponse = z.strictObject({
  outcome: z.enum(['applied', 'noop', 'rejected', 'failed']),
  reason: z.string().optional(),
  messages: z.array(z.unknown()).describe('untouched messages are the bytes you sent'),
  spans: z.array(span),
  tokens,
  base_hash: z.string(),
  new_hash: z.string(),
  violations: z.array(violation).optional(),
  warnings: z.array(z.string()),
})

export const validateResponse = z.strictObject({ valid: z.boolean(), violations: z.array(violation) })

export const errorResponse = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), request_id: z.string() }),
})

const operatingPoint = z.strictObject({
  tau: z.number().nullable(),
  precision: z.number().nullable(),
  recall: z.number().nullable(),
})

export const infoResponse = z.strictObject({
  name: z.literal('keepready'),
  version: z.string(),
  formats: z.array(z.enum(HISTORY_FORMATS)),
  inputs: z.enum(['hidden', 'hidden+evidence', 'evidence']),
  representation_id: z.string().nullable(),
  model: z
    .strictObject({
      name: z.string(),
      architecture: z.string(),
      layer: z.number().int(),
      recipe: z.string(),
      view_budget: z.number().int(),
    })
    .nullable(),
  operating_points: z.record(z.string(), operatingPoint),
  config: z.record(z.string(), z.unknown()),
})

export const statusResponse = z.strictObject({ status: z.enum(['ok', 'starting', 'draining']) })

export type ScoreResponse = z.infer<typeof scoreResponse>
export type PlanResponse = z.infer<typeof planResponse>
export type CompactResponse = z.infer<typeof compactResponse>
export type ValidateResponse = z.infer<typeof validateResponse>
export type InfoResponse = z.infer<typeof infoResponse>
