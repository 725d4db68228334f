/**
 * The real app and history service, without the thread between them, over a readiness model that needs no LM: its logits come from a function. The real
 * model is served in tests/e2e/serve.test.ts.
 */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { answerCall } from '../../../server/answer-call.ts'
import { createApp } from '../../../server/app.ts'
import { parseServerConfig } from '../../../server/config.schema.ts'
import { createHistoryService } from '../../../server/history-service.ts'
import type { ThreadStatus } from '../../../server/history-thread/thread-protocol.ts'
import type { ReadinessModel, ScoreCall } from '../../../server/readiness-model.ts'
import { createServerMetrics } from '../../../server/server-metrics.ts'
import { HISTORY_FORMATS } from '../../../src/protocol/history.ts'
import { logitOf } from '../../../src/router/decide.ts'
import type { OperatingPoint, OperatingPointName, OperatingPoints } from '../../../src/router/operating-points.ts'
import { targetsAt } from '../../../src/trajectory/trajectory.ts'

export interface UnderTest {
  readonly logitOf?: (interaction: number) => number
  readonly score?: ReadinessModel['score']
  readonly flags?: Readonly<Record<string, unknown>>
  readonly status?: () => 'ok' | 'starting' | 'draining'
  readonly logLines?: string[]
}

const FIGURES = { pairs: 10, positives: 5, selectedPairs: 5, selectedGroups: 5, precision: 0.9, recall: 0.5 }

function point(name: OperatingPointName, tau: number | null): OperatingPoint {
  return {
    name,
    tau,
    tauLogit: tau === null ? null : logitOf(tau),
    validation: FIGURES,
    reason: tau === null ? 'no threshold reaches precision 0.8 in validation' : null,
  }
}

const OPERATING_POINTS: OperatingPoints = {
  points: {
    precision: point('precision', null),
    f1: point('f1', 0.5),
    cost: point('cost', 0.8),
    fixed: point('fixed', 0.6),
  },
  calibration: null,
}

export async function serverUnderTest(parts: UnderTest = {}): Promise<FastifyInstance> {
  const scoreOf = parts.logitOf ?? (() => 3)
  const model: ReadinessModel = {
    defaultOperatingPoint: 'f1',
    operatingPoints: OPERATING_POINTS,
    score:
      parts.score ??
      (async ({ trajectory, checkpoint }: ScoreCall) => {
        const interactions = targetsAt(trajectory, checkpoint).map((target) => target.index)
        return { interactions, logits: Float32Array.from(interactions, scoreOf), extraction: null }
      }),
  }
  const service = createHistoryService(model)
  const nowMs = (): number => performance.now()
  const config = parseServerConfig({ flags: { router: 'unused', ...parts.flags }, environment: {}, file: {} })
  const logger = pino({ level: 'info' }, { write: (line: string) => void parts.logLines?.push(line) })
  return createApp({
    config,
    answer: (call) => answerCall({ service, representationId: null, nowMs }, call),
    metrics: createServerMetrics(() => IDLE),
    info: () => ({
      name: 'keepready',
      version: '0.0.0',
      formats: [...HISTORY_FORMATS],
      inputs: 'evidence',
      representation_id: null,
      model: null,
      operating_points: { f1: { tau: 0.5, precision: 0.9, recall: 0.5 } },
      config: {},
    }),
    status: parts.status ?? (() => 'ok'),
    logger: logger as FastifyBaseLogger,
    nowMs,
    version: '0.0.0',
  })
}

const IDLE: ThreadStatus = {
  ready: true,
  modelProcess: null,
  restarts: 0,
  waiting: 0,
  queuedTokens: 0,
  computedTokens: 0,
  prefixHits: 0,
  prefixMisses: 0,
  prefixSavedTokens: 0,
  prefixBytes: 0,
}

/** n complete interactions of about `words` words each, then a pending user turn, as raw text with awkward numbers. */
export function chatHistory(n: number, words = 200): string {
  const messages = [
    '{"role":"system","content":"You fix builds."}',
    '{"role":"user","content":"Fix the build, please."}',
  ]
  for (let i = 0; i < n; i++) {
    const args = JSON.stringify(`{"path":"src/file-${i}.ts"}`)
    const output = JSON.stringify(`file ${i}: ${`line of output ${i} `.repeat(words / 4)}`)
    messages.push(
      `{ "role": "assistant", "x_cost": 1.0, "x_id": 12345678901234567890, "content": "Step ${i}.", "tool_calls": [{"id":"call_${i}","type":"function","function":{"name":"read","arguments":${args}},"10":1,"9":2}] }`,
      `{"role":"tool","tool_call_id":"call_${i}","content":${output}}`,
    )
  }
  messages.push('{"role":"user","content":"And now?"}')
  return `[${messages.join(',\n')}]`
}

/** A request body with the history spliced in as text. */
export function bodyOf(messages: string, extra: Readonly<Record<string, unknown>> = {}): string {
  const fields = Object.entries({ format: 'openai-chat', ...extra }).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
  )
  return `{${[...fields, `"messages":${messages}`].join(',')}}`
}

export const JSON_HEADERS = { 'content-type': 'application/json', host: 'localhost' }
