/**
 * Response bodies, snake_case. The contract test parses everything we send with these.
 */
import { z } from 'zod'
import { HISTORY_FORMATS } from '../../src/protocol/history.ts'
import { CHANGE_ACTIONS } from '../../src/protocol/repair/change.ts'
import { OPERATING_POINT_NAMES } from '../../src/router/operating-points.ts'

const tokens = z.strictObject({
  before: z.number(),
  after: z.number(),
  encoding: z.enum(['o200k', 'cl100k']).describe("the encoding of the request's `model`, or o200k"),
  estimate: z.boolean().describe('the acting model is unknown, or its encoding is not public'),
})

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

const change = z.strictObject({
  rule: z.string(),
  pointer: z.string().describe('of the place in the history that you sent'),
  action: z.enum(CHANGE_ACTIONS),
  sentence: z.string(),
})
const changes = z.array(change).optional()

export const planResponse = z.strictObject({
  base_hash: z.string(),
  operating_point: z.enum(OPERATING_POINT_NAMES),
  tau: z.number().nullable(),
  spans: z.array(span),
  tokens: tokens.describe('after is predicted'),
  changes: changes.describe('what was repaired first; spans and base_hash are those of the repaired history'),
  warnings: z.array(z.string()),
})

const violation = z.strictObject({
  rule: z.string(),
  pointer: z.string(),
  message: z.string(),
  advisory: z.literal(true).optional().describe('some hosts only: no reason to refuse a compaction'),
})

const list = z.array(z.unknown()).optional()

/** One of them: the field that the request had. */
const lists = {
  messages: list.describe('the list under the field of your request; untouched messages are the bytes you sent'),
  prompt: list,
  input: list.describe('the same for openai-responses'),
  items: list,
  output: list,
  contents: list.describe('the same for gemini-contents'),
  history: list,
}

export const compactResponse = z.strictObject({
  outcome: z.enum(['applied', 'noop', 'rejected', 'failed']),
  reason: z.string().optional(),
  ...lists,
  spans: z.array(span),
  tokens,
  base_hash: z.string(),
  new_hash: z.string(),
  violations: z.array(violation).optional(),
  changes: changes.describe('what was repaired first; the list is the repaired one, also where nothing was replaced'),
  stripped_thinking: z
    .array(z.string())
    .optional()
    .describe('pointers to signed thinking that the edit would have made invalid and that was left out'),
  warnings: z.array(z.string()),
})

export const validateResponse = z.strictObject({
  valid: z.boolean().describe('of the history that you sent'),
  violations: z.array(violation),
  changes: changes.describe('with fix'),
  remaining: z.array(violation).optional().describe('with fix: what the repaired history still breaks'),
  ...lists,
})

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
