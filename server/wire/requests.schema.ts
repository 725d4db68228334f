/**
 * Request bodies. The provider's own fields (messages, system, tools, model ...) stand beside ours as the provider has
 * them, so unknown keys pass; the history itself is read from the raw text by parseHistory, never from here. Its list
 * stands in the field that the provider's format has for it (ProviderFormat.listFields).
 */
import { z } from 'zod'
import { FORMATS } from '../../src/protocol/formats.ts'
import { HISTORY_FORMATS, type HistoryFormat, type Pins } from '../../src/protocol/history.ts'
import { THINKING_BINDINGS, type ThinkingBinding } from '../../src/protocol/thinking-binding.ts'
import { OPERATING_POINT_NAMES, type OperatingPointName } from '../../src/router/operating-points.ts'
import { parseRequest } from './parse-request.ts'

const pins = z.strictObject({
  tool_names: z.array(z.string()).default([]).describe('interactions that call one of these tools are never touched'),
  patterns: z.array(z.string().min(1)).default([]).describe('interactions whose text holds one of these strings'),
  call_ids: z.array(z.string()).default([]).describe('interactions with one of these tool-call ids'),
})

const history = z.looseObject({
  format: z.enum(HISTORY_FORMATS).describe("the provider's message format"),
  messages: z
    .array(z.unknown())
    .optional()
    .describe('openai-chat, anthropic-messages, ai-sdk: the message list exactly as you send it to the provider'),
  input: z
    .union([z.array(z.unknown()), z.string()])
    .optional()
    .describe('openai-responses: the list of items; `items` or `output` is read in its place'),
  contents: z
    .union([z.array(z.unknown()), z.string()])
    .optional()
    .describe('gemini-contents: the list of contents; `history` is read in its place'),
})

/** Exactly one list, in a field of the format. */
function withList<Fields extends { readonly format: HistoryFormat }>(body: z.ZodType<Fields>): z.ZodType<Fields> {
  return body.superRefine((value, context) => {
    const { noun, listFields } = FORMATS[value.format]
    const given = Object.entries(value).filter(([field, list]) => listFields.includes(field) && list !== null)
    const [field, list] = given[0] ?? [listFields[0]]
    if (given.length === 1 && isList(list, { mayBeText: listFields.length > 1 })) return
    const where = listFields.map((name) => `"${name}"`).join(' or ')
    context.addIssue({
      code: 'custom',
      path: [field],
      message: `${value.format} has its list of ${noun} in ${where}: send exactly one list, not empty`,
    })
  })
}

function isList(list: unknown, { mayBeText }: { readonly mayBeText: boolean }): boolean {
  return (Array.isArray(list) || (mayBeText && typeof list === 'string')) && list.length > 0
}

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

const repaired = {
  dangling_calls: z
    .enum(['drop', 'close'])
    .optional()
    .describe('in a repair, a call that was never answered is dropped (default) or closed by a result that says so'),
  thinking_binding: z
    .enum(THINKING_BINDINGS)
    .optional()
    .describe(
      'prefix: signed thinking behind an edited place is left out; auto (default): by the model that the request names',
    ),
}

const validated = history.extend({
  fix: z.boolean().optional().describe('also return the smallest safe repair'),
  ...repaired,
})

export const validateBody = withList(validated)
export const scoreBody = withList(scored)
export const planBody = withList(
  planned.extend({
    repair: z
      .boolean()
      .optional()
      .describe('an invalid history is repaired first, and the changes are in the answer; default: it is rejected'),
    ...repaired,
  }),
)
export const compactBody = planBody

export interface RepairRequest {
  readonly format: HistoryFormat
  readonly danglingCalls: 'drop' | 'close'
  readonly thinkingBinding: ThinkingBinding
}

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
  /** Null: an invalid history is rejected. */
  readonly repair: { readonly danglingCalls: 'drop' | 'close' } | null
  readonly thinkingBinding: ThinkingBinding
}

/** @throws request-invalid naming the field */
export function parseValidateRequest(body: unknown): RepairRequest & { readonly fix: boolean } {
  const { format, fix, dangling_calls, thinking_binding } = parseRequest(validateBody, body)
  return {
    format,
    fix: fix ?? false,
    danglingCalls: dangling_calls ?? 'drop',
    thinkingBinding: thinking_binding ?? 'auto',
  }
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
    repair: request.repair === true ? { danglingCalls: request.dangling_calls ?? 'drop' } : null,
    thinkingBinding: request.thinking_binding ?? 'auto',
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
