/**
 * One call about a history, from the bytes of its body to the bytes of its answer. Knows nothing of HTTP; it runs in the
 * history thread, so that the event loop of the server only moves bytes.
 */
import { AppError } from '../src/errors.ts'
import type { CallContext, HistoryService } from './history-service.ts'
import { createStageClock } from './stage-clock.ts'
import { parsePlanRequest, parseScoreRequest, parseValidateRequest } from './wire/requests.schema.ts'
import type { HistoryCallKind } from './wire/routes.schema.ts'
import { compactionToJson, planToWire, repairToJson, scoreToWire } from './wire/to-wire.ts'

export interface HistoryCall {
  readonly kind: HistoryCallKind
  /** UTF-8 JSON, as it came. */
  readonly body: Uint8Array
  /** Aborted with an AppError when the client left or the deadline passed. */
  readonly signal: AbortSignal
}

export interface HistoryAnswer {
  /** UTF-8 JSON: untouched messages are the bytes of the request. */
  readonly body: Uint8Array
  /** Milliseconds by stage. */
  readonly stages: ReadonlyMap<string, number>
  /** Of a compaction, else null. */
  readonly outcome: { readonly outcome: string; readonly reason: string | null } | null
  /** Errors that became an outcome, for the log. */
  readonly noted: readonly AppError[]
}

export interface CallParts {
  readonly service: HistoryService
  /** Of the router; null when it reads no hidden states. */
  readonly representationId: string | null
  readonly nowMs: () => number
}

/** @throws request-invalid, and what the history service throws */
export async function answerCall(parts: CallParts, call: HistoryCall): Promise<HistoryAnswer> {
  const clock = createStageClock(parts.nowMs)
  const body = clock.time('parse', () => readBody(call.body))
  const { json, outcome = null } = await answerJson(parts, call.kind, body, { signal: call.signal, clock })
  return { body: new TextEncoder().encode(json), stages: clock.stages, outcome, noted: clock.noted }
}

/** A body as text and as JSON: histories are read from the text, options from the value. */
interface Body {
  readonly text: string
  readonly value: unknown
}

async function answerJson(
  { service, representationId }: CallParts,
  kind: HistoryCallKind,
  { text, value }: Body,
  context: CallContext,
): Promise<{ readonly json: string; readonly outcome?: HistoryAnswer['outcome'] }> {
  switch (kind) {
    case 'score': {
      const score = await service.score(text, parseScoreRequest(value), context)
      return { json: JSON.stringify(scoreToWire(score, representationId)) }
    }
    case 'plan':
      return { json: JSON.stringify(planToWire(await service.plan(text, parsePlanRequest(value), context))) }
    case 'compact': {
      const result = await service.compact(text, parsePlanRequest(value), context)
      const { outcome, reason } = result.compaction
      return { json: compactionToJson(result), outcome: { outcome, reason } }
    }
    case 'validate': {
      const request = parseValidateRequest(value)
      if (request.fix) return { json: repairToJson(service.repair(text, request)) }
      const violations = service.validate(text, request.format)
      return { json: JSON.stringify({ valid: violations.length === 0, violations }) }
    }
    default:
      return kind satisfies never
  }
}

/** @throws request-invalid */
function readBody(bytes: Uint8Array): Body {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch (cause) {
    // The engine's message quotes the text, and a history's words do not belong into a message that may be logged.
    const what = cause instanceof SyntaxError ? 'JSON' : 'UTF-8'
    throw new AppError('request-invalid', `the body is not ${what}: send one JSON object`, { cause })
  }
}
