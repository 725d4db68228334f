/**
 * GET /info, /livez, /readyz, /metrics, /openapi.json.
 */
import type { FastifyPluginAsync } from 'fastify'
import type { AppParts } from '../app-parts.ts'
import { infoResponse, statusResponse } from '../wire/responses.schema.ts'

export function statusRoutes(parts: AppParts): FastifyPluginAsync {
  return async (app) => {
    const describe = (summary: string): { summary: string; tags: string[] } => ({ summary, tags: ['status'] })
    app.get(
      '/livez',
      { schema: { ...describe('The process answers'), response: { 200: statusResponse } } },
      async () => ({
        status: 'ok',
      }),
    )
    app.get(
      '/readyz',
      {
        schema: {
          ...describe('The model is loaded and work is accepted'),
          response: { 200: statusResponse, 503: statusResponse },
        },
      },
      async (_request, reply) => {
        const status = parts.status()
        return reply.code(status === 'ok' ? 200 : 503).send({ status })
      },
    )
    app.get(
      '/info',
      { schema: { ...describe('Router, model, limits and configuration'), response: { 200: infoResponse } } },
      async () => parts.info(),
    )
    app.get('/metrics', { schema: { ...describe('Prometheus metrics'), hide: true } }, async (_request, reply) =>
      reply.type(parts.metrics.contentType).send(await parts.metrics.render()),
    )
    app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
  }
}
