/**
 * POST /v1/score, /v1/plan, /v1/compact, /v1/validate.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../src/errors.ts'
import type { AppParts, RequestBody } from '../app.ts'
import type { CallContext } from '../history-service.ts'
import { createStageClock, serverTiming } from '../stage-clock.ts'
import { parsePlanRequest, parseScoreRequest, parseValidateRequest } from '../wire/requests.schema.ts'
import { errorResponse } from '../wire/responses.schema.ts'
import { HISTORY_CALL_KINDS, HISTORY_CALLS, type HistoryCallKind } from '../wire/routes.schema.ts'
import { compactionToJson, planToWire, scoreToWire } from '../wire/to-wire.ts'

/** Answers from the body, within the call's cancellation; a string is JSON that is sent as it is. */
type Handler = (body: RequestBody, context: CallContext) => Promise<object | string>

export function historyRoutes(parts: AppParts): FastifyPluginAsync {
  const { service, info, metrics } = parts
  const handlers: Readonly<Record<HistoryCallKind, Handler>> = {
    score: async ({ text, value }, context) =>
      scoreToWire(await service.score(text, parseScoreRequest(value), context), info().representation_id),
    plan: async ({ text, value }, context) => planToWire(await service.plan(text, parsePlanRequest(value), context)),
    compact: async ({ text, value }, context) => {
      const result = await service.compact(text, parsePlanRequest(value), context)
      metrics.outcome(result.compaction.outcome, result.compaction.reason ?? 'none')
      return compactionToJson(result)
    },
    validate: async ({ text, value }) => {
      const violations = service.validate(text, parseValidateRequest(value).format)
      return { valid: violations.length === 0, violations }
    },
  }
  return async (app) => {
    for (const kind of HISTORY_CALL_KINDS) {
      const { path, summary, body, response } = HISTORY_CALLS[kind]
      app.post<{ Body: RequestBody }>(
        path,
        {
          schema: {
            summary,
            tags: ['history'],
            body,
            response: { 200: response, '4xx': errorResponse, '5xx': errorResponse },
          },
        },
        (request, reply) => answer(parts, handlers[kind], request, reply),
      )
    }
  }
}

async function answer(
  parts: AppParts,
  handle: Handler,
  request: FastifyRequest<{ Body: RequestBody }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const clock = createStageClock(parts.nowMs)
  const call = startCall(request, parts.config.deadlineMs)
  try {
    const result = await handle(request.body, { signal: call.signal, clock })
    for (const error of clock.noted) request.log.warn({ code: error.code, err: error.cause ?? error }, 'outcome')
    return reply.header('server-timing', serverTiming(clock)).type('application/json; charset=utf-8').send(result)
  } finally {
    call.end()
    for (const [stage, milliseconds] of clock.stages) parts.metrics.stageDone(stage, milliseconds / 1000)
  }
}

/** A call ends early when its client leaves or its deadline passes. */
function startCall(
  request: FastifyRequest,
  deadlineMs: number,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const abort = new AbortController()
  const timer = setTimeout(
    () =>
      abort.abort(
        new AppError(
          'deadline-exceeded',
          `not done within ${deadlineMs} ms: retry when the queue is shorter, or raise --deadline-ms`,
        ),
      ),
    deadlineMs,
  )
  const onClose = (): void => {
    if (request.raw.destroyed && !request.raw.complete) abort.abort(clientLeft())
  }
  const onSocketClose = (): void => abort.abort(clientLeft())
  request.raw.on('close', onClose)
  request.raw.socket.once('close', onSocketClose)
  return {
    signal: abort.signal,
    end() {
      clearTimeout(timer)
      request.raw.off('close', onClose)
      request.raw.socket.off('close', onSocketClose)
    },
  }
}

function clientLeft(): AppError {
  return new AppError('interrupted', 'the client closed the connection')
}
