/**
 * POST /v1/score, /v1/plan, /v1/compact, /v1/validate.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import type { AppParts, RequestBody } from '../app.ts'
import type { CallContext } from '../history-service.ts'
import { createStageClock, serverTiming } from '../stage-clock.ts'
import {
  compactBody,
  parsePlanRequest,
  parseScoreRequest,
  parseValidateRequest,
  planBody,
  scoreBody,
  validateBody,
} from '../wire/requests.schema.ts'
import {
  compactResponse,
  errorResponse,
  planResponse,
  scoreResponse,
  validateResponse,
} from '../wire/responses.schema.ts'
import { compactionToJson, planToWire, scoreToWire } from '../wire/to-wire.ts'

/** Answers from the body, within the call's cancellation; a string is JSON that is sent as it is. */
type Handler = (body: RequestBody, context: CallContext) => Promise<object | string>

interface RouteSpec {
  readonly path: string
  readonly summary: string
  readonly body: z.ZodType
  readonly response: z.ZodType
  readonly handle: Handler
}

export function historyRoutes(parts: AppParts): FastifyPluginAsync {
  const { service, info, metrics } = parts
  const routes: readonly RouteSpec[] = [
    {
      path: '/v1/score',
      summary: 'Readiness of every interaction of a history',
      body: scoreBody,
      response: scoreResponse,
      handle: async ({ text, value }, context) =>
        scoreToWire(await service.score(text, parseScoreRequest(value), context), info().representation_id),
    },
    {
      path: '/v1/plan',
      summary: 'Dry run: which spans would be replaced, and every gate with its number',
      body: planBody,
      response: planResponse,
      handle: async ({ text, value }, context) =>
        planToWire(await service.plan(text, parsePlanRequest(value), context)),
    },
    {
      path: '/v1/compact',
      summary: 'Replace READY spans by summaries, or give back the history unchanged and say why',
      body: compactBody,
      response: compactResponse,
      handle: async ({ text, value }, context) => {
        const result = await service.compact(text, parsePlanRequest(value), context)
        metrics.outcome(result.compaction.outcome, result.compaction.reason ?? 'none')
        return compactionToJson(result)
      },
    },
    {
      path: '/v1/validate',
      summary: "Check a history against its provider's rules",
      body: validateBody,
      response: validateResponse,
      handle: async ({ text, value }) => {
        const violations = service.validate(text, parseValidateRequest(value).format)
        return { valid: violations.length === 0, violations }
      },
    },
  ]
  return async (app) => {
    for (const route of routes) {
      app.post<{ Body: RequestBody }>(
        route.path,
        {
          schema: {
            summary: route.summary,
            tags: ['history'],
            body: route.body,
            response: { 200: route.response, '4xx': errorResponse, '5xx': errorResponse },
          },
        },
        (request, reply) => answer(parts, route, request, reply),
      )
    }
  }
}

async function answer(
  parts: AppParts,
  route: RouteSpec,
  request: FastifyRequest<{ Body: RequestBody }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const clock = createStageClock(parts.nowMs)
  const call = startCall(request, parts.config.deadlineMs)
  try {
    const result = await route.handle(request.body, { signal: call.signal, clock })
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
