/**
 * The demo's online half: a server on a free port, asked over HTTP about one long history that no training part saw.
 */
import { pino } from 'pino'
import { parseServerConfig } from '../../../server/config.schema.ts'
import { startServer } from '../../../server/main.ts'
import type { CompactResponse, PlanResponse, ScoreResponse } from '../../../server/wire/responses.schema.ts'
import { AppError } from '../../errors.ts'
import type { OperatingPointName } from '../../router/operating-points.ts'
import type { CommandContext } from '../command-context.ts'
import { packageVersion } from '../package-version.ts'

export const DEMO_POINTS = ['precision', 'f1'] as const satisfies readonly OperatingPointName[]

export interface ServedPoint {
  readonly operatingPoint: OperatingPointName
  readonly score: ScoreResponse
  readonly plan: PlanResponse
  readonly compaction: CompactResponse
}

export interface ServedHistory {
  readonly url: string
  readonly points: readonly ServedPoint[]
  /** Wall time of all requests. */
  readonly seconds: number
}

/** @param request the provider's request body: {"messages": [...], ...} as text */
export async function serveHistory(
  context: CommandContext,
  options: { readonly router: string; readonly request: string },
): Promise<ServedHistory> {
  const server = await startServer({
    config: parseServerConfig({
      flags: { router: options.router, port: 0, logLevel: 'error' },
      environment: {},
      file: {},
    }),
    logger: pino({ level: 'error' }, pino.destination(2)),
    nowMs: context.nowMs,
    version: packageVersion(),
  })
  const ask = async <T>(path: string, operatingPoint: OperatingPointName): Promise<T> => {
    const fields = JSON.stringify({ format: 'anthropic-messages', operating_point: operatingPoint }).slice(0, -1)
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `${fields},${options.request.trim().slice(1)}`,
      signal: context.signal,
    })
    const body: unknown = await response.json()
    if (!response.ok)
      throw new AppError('invariant', `demo: ${path} answered ${response.status}: ${JSON.stringify(body)}`)
    return body as T
  }
  const startMs = context.nowMs()
  try {
    const points: ServedPoint[] = []
    for (const operatingPoint of DEMO_POINTS) {
      points.push({
        operatingPoint,
        score: await ask<ScoreResponse>('/v1/score', operatingPoint),
        plan: await ask<PlanResponse>('/v1/plan', operatingPoint),
        compaction: await ask<CompactResponse>('/v1/compact', operatingPoint),
      })
    }
    return { url: server.url, points, seconds: (context.nowMs() - startMs) / 1000 }
  } finally {
    await server.close()
  }
}
