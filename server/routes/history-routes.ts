/**
 * POST /v1/score, /v1/plan, /v1/compact, /v1/validate: the bytes of a body to the history thread, its answer back.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../src/errors.ts'
import type { AppParts } from '../app-parts.ts'
import { logFields } from '../http-errors.ts'
import { serverTiming } from '../stage-clock.ts'
import { errorResponse } from '../wire/responses.schema.ts'
import { HISTORY_CALL_KINDS, HISTORY_CALLS, type HistoryCallKind } from '../wire/routes.schema.ts'

type HistoryRequest = FastifyRequest<{ Body: Uint8Array }>

export function historyRoutes(parts: AppParts): FastifyPluginAsync {
  return async (app) => {
    for (const kind of HISTORY_CALL_KINDS) {
      const { path, summary, body, response } = HISTORY_CALLS[kind]
      app.post<{ Body: Uint8Array }>(
        path,
        {
          schema: {
            summary,
            tags: ['history'],
            body,
            response: { 200: response, '4xx': errorResponse, '5xx': errorResponse },
          },
        },
        (request, reply) => answer(parts, kind, request, reply),
      )
    }
  }
}

async function answer(
  { answer: ask, config, metrics }: AppParts,
  kind: HistoryCallKind,
  request: HistoryRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const call = startCall(request, config.deadlineMs)
  try {
    const { body, stages, outcome, noted } = await ask({ kind, body: request.body, signal: call.signal })
    for (const error of noted) request.log.warn(logFields(error), 'outcome')
    for (const [stage, milliseconds] of stages) metrics.stageDone(stage, milliseconds / 1000)
    if (outcome !== null) metrics.outcome(outcome.outcome, outcome.reason ?? 'none')
    return reply
      .header('server-timing', serverTiming(stages))
      .type('application/json; charset=utf-8')
      .send(Buffer.from(body.buffer, body.byteOffset, body.byteLength))
  } finally {
    call.end()
  }
}

/** A call ends early when its client leaves or its deadline passes. */
function startCall(
  request: HistoryRequest,
  deadlineMs: number,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const abort = new AbortController()
  const timer = setTimeout(() => {
    const message = `not done within ${deadlineMs} ms: retry when the queue is shorter, or raise --deadline-ms`
    abort.abort(new AppError('deadline-exceeded', message))
  }, deadlineMs)
  const leave = (): void => abort.abort(new AppError('interrupted', 'the client closed the connection'))
  const { socket } = request.raw
  socket.once('close', leave)
  return {
    signal: abort.signal,
    end() {
      clearTimeout(timer)
      socket.off('close', leave)
    },
  }
}
