/**
 * The HTTP side: guards, routes, errors. It moves bytes: what they say is read in the history thread, and the model runs
 * in another process.
 */
import swagger from '@fastify/swagger'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import { AppError, toAppError } from '../src/errors.ts'
import type { AppParts } from './app-parts.ts'
import type { ServerConfig } from './config.schema.ts'
import { guardRequest } from './guards.ts'
import { errorBody, HTTP_STATUS, logFields } from './http-errors.ts'
import { historyRoutes } from './routes/history-routes.ts'
import { statusRoutes } from './routes/status-routes.ts'

export async function createApp(parts: AppParts): Promise<FastifyInstance> {
  const { config, metrics } = parts
  const app: FastifyInstance = Fastify({
    loggerInstance: parts.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: config.maxBodyBytes,
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    forceCloseConnections: 'idle',
  })
  app.setErrorHandler((error, request, reply) => sendError(translate(error, config), request, reply))
  app.setNotFoundHandler((request, reply) =>
    sendError(
      new AppError('route-not-found', `no route ${request.method} ${request.url.split('?')[0]}: see GET /openapi.json`),
      request,
      reply,
    ),
  )
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => body,
  )
  // Bodies are bytes here; the history thread checks them with the schemas that Fastify only documents.
  app.setValidatorCompiler(() => (value) => ({ value }))
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
  app.addHook('onRequest', async (request) => {
    guardRequest(request, config)
    if (parts.status() === 'draining' && request.method === 'POST') {
      throw new AppError('server-draining', 'the server is shutting down: send the request elsewhere or later')
    }
  })
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    reply.header('cache-control', 'no-store')
  })
  app.addHook('onResponse', async (request, reply) => {
    const seconds = reply.elapsedTime / 1000
    const route = request.routeOptions.url ?? 'unknown'
    metrics.requestDone({ route, status: reply.statusCode, seconds })
    request.log.info(
      { route, method: request.method, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    )
  })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'keepready',
        version: parts.version,
        description: 'Which past interactions of an agent no longer need to stay in full.',
      },
      ...(config.token === null
        ? {}
        : {
            security: [{ bearer: [] }],
            components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
          }),
    },
    transform: jsonSchemaTransform,
  })
  await app.register(historyRoutes(parts))
  await app.register(statusRoutes(parts))
  return app
}

function translate(error: unknown, config: ServerConfig): AppError {
  const code = (error as FastifyError).code
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new AppError(
      'body-too-large',
      `the body is larger than ${config.maxBodyBytes} bytes: raise --max-body-bytes or send less`,
    )
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new AppError('media-type-unsupported', 'content type is not supported: send application/json')
  }
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' || code === 'FST_ERR_CTP_EMPTY_JSON_BODY') {
    return new AppError('request-invalid', 'the body is empty or shorter than announced: send one JSON object')
  }
  return toAppError(error)
}

function sendError(error: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const status = HTTP_STATUS[error.code]
  const retryAfter = error.details.retryAfterSeconds
  if (typeof retryAfter === 'number') reply.header('retry-after', String(retryAfter))
  else if (error.code === 'host-crashed' || error.code === 'server-draining') reply.header('retry-after', '5')
  if (error.code === 'unauthorized') reply.header('www-authenticate', 'Bearer')
  if (status >= 500) request.log.error(logFields(error), 'request failed')
  return reply.code(status).send(errorBody(error, request.id))
}
