/**
 * What the HTTP side is made of: handed to the app and its routes by whoever starts them.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { HistoryAnswer, HistoryCall } from './answer-call.ts'
import type { ServerConfig } from './config.schema.ts'
import type { ServerMetrics } from './server-metrics.ts'
import type { InfoResponse } from './wire/responses.schema.ts'

export interface AppParts {
  readonly config: ServerConfig
  readonly answer: (call: HistoryCall) => Promise<HistoryAnswer>
  readonly metrics: ServerMetrics
  readonly info: () => InfoResponse
  readonly status: () => 'ok' | 'starting' | 'draining'
  readonly logger: FastifyBaseLogger
  readonly nowMs: () => number
  readonly version: string
}
