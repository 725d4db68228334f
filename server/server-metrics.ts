/** Prometheus metrics of the server. Labels are closed lists: no path, id or history text ever becomes one. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ThreadStatus } from './history-thread/thread-protocol.ts'

export interface ServerMetrics {
  readonly requestDone: (request: { readonly route: string; readonly status: number; readonly seconds: number }) => void
  readonly stageDone: (stage: string, seconds: number) => void
  readonly outcome: (outcome: string, reason: string) => void
  readonly render: () => Promise<string>
  readonly contentType: string
}

type NumericField = {
  [Field in keyof ThreadStatus]: ThreadStatus[Field] extends number ? Field : never
}[keyof ThreadStatus]

const SECONDS_BUCKETS = [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

export function createServerMetrics(status: () => ThreadStatus): ServerMetrics {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Histogram({
    name: 'keepready_request_seconds',
    help: 'Time from the first byte of a request to the end of its response',
    labelNames: ['route', 'status'],
    buckets: SECONDS_BUCKETS,
    registers,
  })
  const stages = new Histogram({
    name: 'keepready_stage_seconds',
    help: 'Time of one stage of a request: parse, queue, tokenize, inference, score, count, plan, summarise',
    labelNames: ['stage'],
    buckets: SECONDS_BUCKETS,
    registers,
  })
  const outcomes = new Counter({
    name: 'keepready_compactions_total',
    help: 'Compactions by outcome and reason',
    labelNames: ['outcome', 'reason'],
    registers,
  })
  const observed = (type: typeof Gauge | typeof Counter, name: string, help: string, field: NumericField): void => {
    new type({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(Number(status()[field]))
      },
    })
  }
  observed(Counter, 'keepready_lm_tokens_total', 'Tokens the frozen LM computed', 'computedTokens')
  observed(Counter, 'keepready_prefix_cache_hits_total', 'Stored states that runs of the LM started from', 'prefixHits')
  observed(Counter, 'keepready_prefix_cache_misses_total', 'States that had to be computed', 'prefixMisses')
  observed(
    Counter,
    'keepready_prefix_cache_saved_tokens_total',
    'LM tokens not computed because a state behind them was stored',
    'prefixSavedTokens',
  )
  observed(Gauge, 'keepready_prefix_cache_bytes', 'Size of the stored states', 'prefixBytes')
  observed(Gauge, 'keepready_queue_jobs', 'Jobs waiting for the frozen LM', 'waiting')
  observed(Gauge, 'keepready_queue_tokens', 'Estimated LM tokens waiting or running', 'queuedTokens')
  observed(Gauge, 'keepready_host_restarts', 'Times the model process was restarted', 'restarts')
  return {
    requestDone: ({ route, status, seconds }) => requests.observe({ route, status: String(status) }, seconds),
    stageDone: (stage, seconds) => stages.observe({ stage }, seconds),
    outcome: (outcome, reason) => outcomes.inc({ outcome, reason }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
