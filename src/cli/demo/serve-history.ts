/**
 * The demo's online half: a server on a free port, asked over HTTP about one long history that no training part saw.
 */
import { pino } from 'pino'
import { cacheFolders } from '../../../models/cache-folders.ts'
import { parseServerConfig } from '../../../server/config.schema.ts'
import { startServer } from '../../../server/main.ts'
import type { CompactResponse, PlanResponse, ScoreResponse } from '../../../server/wire/responses.schema.ts'
import { AppError } from '../../errors.ts'
import type { OperatingPointName } from '../../router/operating-points.ts'
import type { CommandContext } from '../command-context.ts'
import { readEnvironment } from '../environment.ts'
import { packageVersion } from '../package-version.ts'

/** What the demo asks for: two operating points as they are served, and one with the span gates open. */
const CALLS = [
  { label: 'precision', operating_point: 'precision' },
  { label: 'f1', operating_point: 'f1' },
  {
    label: 'f1, spans of any length',
    operating_point: 'f1',
    limits: { min_span_interactions: 0, min_source_tokens: 0 },
  },
] as const satisfies readonly { label: string; operating_point: OperatingPointName; limits?: object }[]

export interface ServedPoint {
  readonly label: string
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
    caches: cacheFolders(readEnvironment()),
  })
  const ask = async <T>(path: string, fields: object): Promise<T> => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `${JSON.stringify(fields).slice(0, -1)},${options.request.trim().slice(1)}`,
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
    for (const { label, ...call } of CALLS) {
      const fields = { format: 'anthropic-messages', ...call }
      points.push({
        label,
        score: await ask<ScoreResponse>('/v1/score', fields),
        plan: await ask<PlanResponse>('/v1/plan', fields),
        compaction: await ask<CompactResponse>('/v1/compact', fields),
      })
    }
    return { url: server.url, points, seconds: (context.nowMs() - startMs) / 1000 }
  } finally {
    await server.close()
  }
}
