/** Prometheus metrics of the server. Labels are closed lists: no path, id or history text ever becomes one. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { QueueStatus } from './token-queue.ts'

export interface ServerMetrics {
  readonly requestDone: (request: { readonly route: string; readonly status: number; readonly seconds: number }) => void
  readonly stageDone: (stage: string, seconds: number) => void
  readonly tokensComputed: (tokens: number) => void
  readonly outcome: (outcome: string, reason: string) => void
  readonly render: () => Promise<string>
  readonly contentType: string
}

const SECONDS_BUCKETS = [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

export function createServerMetrics(observe: {
  readonly queue: () => QueueStatus
  readonly restarts: () => number
}): ServerMetrics {
  const registers = [new Registry()]
  const registry = registers[0] as Registry
  const requests = new Histogram({
    name: 'keepready_request_seconds',
    help: 'Time from the first byte of a request to the end of its response',
    labelNames: ['route', 'status'],
    buckets: SECONDS_BUCKETS,
    registers,
  })
  const stages = new Histogram({
    name: 'keepready_stage_seconds',
    help: 'Time of one stage of a request: parse, queue, tokenize, inference, score, plan, summarise',
    labelNames: ['stage'],
    buckets: SECONDS_BUCKETS,
    registers,
  })
  const tokens = new Counter({ name: 'keepready_lm_tokens_total', help: 'Tokens the frozen LM computed', registers })
  const outcomes = new Counter({
    name: 'keepready_compactions_total',
    help: 'Compactions by outcome and reason',
    labelNames: ['outcome', 'reason'],
    registers,
  })
  const gauge = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  gauge('keepready_queue_jobs', 'Jobs waiting for the frozen LM', () => observe.queue().waiting)
  gauge('keepready_queue_tokens', 'Estimated LM tokens waiting or running', () => observe.queue().tokens)
  gauge('keepready_host_restarts', 'Times the model process was restarted', () => observe.restarts())
  return {
    requestDone: ({ route, status, seconds }) => requests.observe({ route, status: String(status) }, seconds),
    stageDone: (stage, seconds) => stages.observe({ stage }, seconds),
    tokensComputed: (count) => tokens.inc(count),
    outcome: (outcome, reason) => outcomes.inc({ outcome, reason }),
    render: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
