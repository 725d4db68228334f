/**
 * Starts the server from a configuration and stops it in order: refuse new work, end accepted work, stop the model.
 */
import type { AddressInfo } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { ModelCaches } from '../models/resolve-model.ts'
import { AppError } from '../src/errors.ts'
import { HISTORY_FORMATS } from '../src/protocol/history.ts'
import { createApp } from './app.ts'
import { createCallTracker } from './call-tracker.ts'
import { publicConfig, type ServerConfig } from './config.schema.ts'
import { requireSafeListener } from './guards.ts'
import { type HistoryThread, startHistoryThread } from './history-thread/history-thread.ts'
import { watchResponses } from './open-responses.ts'
import { createServerMetrics } from './server-metrics.ts'
import type { InfoResponse } from './wire/responses.schema.ts'

export interface ServerParts {
  readonly config: ServerConfig
  readonly logger: FastifyBaseLogger
  readonly nowMs: () => number
  readonly version: string
  /** Where pulled and converted models are found. */
  readonly caches: ModelCaches
  /** Told, in a line each, what the model takes and how far its device is from the CPU; default: the log. */
  readonly onNote?: (line: string) => void
}

export interface RunningServer {
  /** e.g. http://127.0.0.1:8088 */
  readonly url: string
  readonly info: InfoResponse
  /** Of the history thread, as it last said. */
  readonly status: HistoryThread['status']
  /** Drains, then stops; resolves when the model's process is gone. */
  close(): Promise<void>
}

/** The least time that clients have to read their answers once the calls have ended. */
const MIN_READ_MS = 500

/** @throws listen-refused, port-in-use, and what openReadiness throws; nothing is left running then */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const { config } = parts
  requireSafeListener(config.host, config.token)
  const { router, model, operatingPoint, maxQueueTokens, prefixCacheMb, device, weights, memoryMb } = config
  const { caches, onNote = (line) => parts.logger.info(line) } = parts
  const thread = await startHistoryThread(
    { router, model, operatingPoint, maxQueueTokens, prefixCacheMb, device, weights, memoryMb, caches },
    { onNote },
  )
  const calls = createCallTracker(thread.answer)
  const info: InfoResponse = {
    name: 'keepready',
    version: parts.version,
    formats: [...HISTORY_FORMATS],
    ...thread.router,
    config: { ...publicConfig(config) },
  }
  const app = await createApp({
    ...parts,
    answer: calls.answer,
    metrics: createServerMetrics(thread.status),
    info: () => info,
    status: () => (calls.draining ? 'draining' : thread.status().ready ? 'ok' : 'starting'),
  })
  const responses = watchResponses(app.server)
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (thrown) {
    await thread.close()
    throw listenError(thrown, config)
  }
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://${urlHost(config.host)}:${port}`,
    info,
    status: thread.status,
    async close() {
      const endMs = parts.nowMs() + config.drainMs
      await calls.drain(config.drainMs)
      const closed = app.close()
      await responses.ended(Math.max(MIN_READ_MS, endMs - parts.nowMs()))
      app.server.closeAllConnections()
      await closed
      await thread.close()
    },
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
