/**
 * How full the context is, from the usage numbers that providers return (../shared/cases 33). Pure, decided call by call.
 * Counters are easily misread: they spike, they add up over a session, they count sub-agents, and after a compaction by
 * the provider they hold the compaction's own pass.
 */

import type { JsonValue } from '../protocol/history.ts'
import { isObject, type JsonObject } from '../protocol/segment.ts'

export interface ContextMeterOptions {
  /** Tokens. */
  readonly contextWindow: number
  /** Share of the window from which on a compaction is due, e.g. 0.8. */
  readonly triggerRatio: number
  /** A cache read this share above the context of the call before cannot be. Measured anomalies: exactly twofold. */
  readonly cacheReadSlack?: number
}

export interface ContextReading {
  /** Context of the next request, tokens; null when this call says nothing about it. */
  readonly contextTokens: number | null
  readonly trigger: boolean
  /** Why there is no reading. */
  readonly ignored: 'other-thread' | 'implausible-cache-read' | 'above-window' | 'no-usage' | null
}

export interface ContextMeter {
  /** The usage of one call, as the provider returned it; `thread` other than "main" is a sub-agent. */
  observe(call: JsonObject): ContextReading
}

/** Assumption of reference/protocol.md and case 33. */
export const DEFAULT_CACHE_READ_SLACK = 0.1

/** State is the context of the last plausible main-thread call, owned by the meter alone. */
export function createContextMeter(options: ContextMeterOptions): ContextMeter {
  const slack = options.cacheReadSlack ?? DEFAULT_CACHE_READ_SLACK
  let last: number | null = null
  const ignore = (ignored: ContextReading['ignored']): ContextReading => ({
    contextTokens: null,
    trigger: false,
    ignored,
  })
  return {
    observe(call) {
      if (typeof call.thread === 'string' && call.thread !== 'main') return ignore('other-thread')
      const usage = readUsage(lastMessagePass(call))
      if (usage === null) return ignore('no-usage')
      if (last !== null && usage.cacheRead > last * (1 + slack)) return ignore('implausible-cache-read')
      if (usage.total > options.contextWindow) return ignore('above-window')
      last = usage.total
      return {
        contextTokens: usage.total,
        trigger: usage.total >= options.triggerRatio * options.contextWindow,
        ignored: null,
      }
    },
  }
}

/** What of a response with a server-side compaction the next request starts from: its last message pass (A17). */
function lastMessagePass(call: JsonObject): JsonObject {
  const usage = isObject(call.usage) ? call.usage : call
  const iterations = Array.isArray(usage.iterations) ? usage.iterations.filter((value) => isObject(value)) : []
  return iterations.findLast((pass) => pass.type === 'message') ?? usage
}

/** Input tokens of one call, with and without the cache, by the counters of each provider. */
function readUsage(usage: JsonObject): { readonly total: number; readonly cacheRead: number } | null {
  const input = number(usage.input_tokens)
  // Anthropic counts cached tokens beside input_tokens; everybody else counts them inside.
  if (input !== null && ('cache_read_input_tokens' in usage || 'cache_creation_input_tokens' in usage)) {
    const cacheRead = number(usage.cache_read_input_tokens) ?? 0
    return { total: input + cacheRead + (number(usage.cache_creation_input_tokens) ?? 0), cacheRead }
  }
  const total = input ?? number(usage.prompt_tokens) ?? number(usage.promptTokenCount) ?? number(usage.inputTokens)
  if (total === null) return null
  const details = usage.input_tokens_details ?? usage.prompt_tokens_details
  const cached = isObject(details) ? details.cached_tokens : (usage.cachedContentTokenCount ?? usage.cachedInputTokens)
  return { total, cacheRead: number(cached) ?? 0 }
}

function number(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
}
