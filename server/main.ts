/**
 * Starts the server from a configuration and stops it in order: refuse new work, end accepted work, stop the model.
 */
import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { SupervisedExtractor } from '../models/frozen-lm/supervised-host.ts'
import { startSupervisedExtractor } from '../models/frozen-lm/supervised-host.ts'
import { AppError } from '../src/errors.ts'
import { HISTORY_FORMATS } from '../src/protocol/history.ts'
import { createApp } from './app.ts'
import { publicConfig, type ServerConfig } from './config.schema.ts'
import { requireSafeListener } from './guards.ts'
import { createHistoryService } from './history-service.ts'
import { type OpenReadiness, openReadiness } from './open-readiness.ts'
import { createServerMetrics, type ServerMetrics } from './server-metrics.ts'
import type { InfoResponse } from './wire/responses.schema.ts'

export interface ServerParts {
  readonly config: ServerConfig
  readonly logger: FastifyBaseLogger
  readonly nowMs: () => number
  readonly version: string
}

export interface RunningServer {
  /** e.g. http://127.0.0.1:8088 */
  readonly url: string
  readonly info: InfoResponse
  /** Drains, then stops; resolves when the model's process is gone. */
  close(): Promise<void>
}

/** @throws listen-refused, port-in-use, and what openReadiness throws; nothing is left running then */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { config, nowMs } = parts
  requireSafeListener(config.host, config.token)
  let metrics: ServerMetrics | null = null
  const readiness = await openReadiness({
    routerDirectory: config.router,
    model: config.model,
    operatingPoint: config.operatingPoint,
    maxQueueTokens: config.maxQueueTokens,
    startExtractor: startSupervisedExtractor,
    nowMs,
    onTokens: (tokens) => metrics?.tokensComputed(tokens),
  })
  metrics = createServerMetrics({
    queue: () => readiness.queue.status(),
    restarts: () => readiness.extractor?.restarts ?? 0,
  })
  const info = describeServer(parts, readiness)
  let draining = false
  const app = await createApp({
    ...parts,
    service: createHistoryService(readiness.model),
    metrics,
    info: () => info,
    status: () => (draining ? 'draining' : readiness.extractor?.ready === false ? 'starting' : 'ok'),
  })
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (thrown) {
    await readiness.close()
    throw listenError(thrown, config)
  }
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://${urlHost(config.host)}:${port}`,
    info,
    async close() {
      draining = true
      await Promise.race([readiness.queue.drain(), timeout(config.drainMs)])
      await app.close()
      await readiness.close()
    },
  }
}

function describeServer(parts: ServerParts, readiness: OpenReadiness<SupervisedExtractor>): InfoResponse {
  const { manifest, spec } = readiness.router
  const { representation } = manifest
  const needsModel = spec.inputs !== 'evidence'
  return {
    name: 'keepready',
    version: parts.version,
    formats: [...HISTORY_FORMATS],
    inputs: spec.inputs,
    representation_id: needsModel ? manifest.representationId : null,
    model: needsModel
      ? {
          name: representation.model.name,
          architecture: representation.model.architecture,
          layer: representation.layer,
          recipe: representation.recipe.name,
          view_budget: representation.recipe.budgets.view,
        }
      : null,
    operating_points: Object.fromEntries(
      Object.values(manifest.operatingPoints.points).map(({ name, tau, validation }) => [
        name,
        { tau, precision: validation.precision, recall: validation.recall },
      ]),
    ),
    config: { ...publicConfig(parts.config) },
  }
}

function listenError(thrown: unknown, config: ServerConfig): unknown {
  const code = (thrown as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE') {
    return new AppError(
      'port-in-use',
      `port ${config.port} on ${config.host} is in use: stop what listens there, or choose --port (0 takes a free one)`,
      { cause: thrown },
    )
  }
  if (code === 'EADDRNOTAVAIL' || code === 'EACCES' || code === 'ENOTFOUND') {
    return new AppError(
      'listen-refused',
      `cannot listen on ${config.host}:${config.port} (${code}): choose another --host or --port`,
      { cause: thrown },
    )
  }
  return thrown
}

function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

function timeout(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
}
