/**
 * How many tokens the next request will take: from the provider's own counters where they describe the history as it now
 * is, else counted. Pure. A compaction makes the counters of its own response stale (formats.md, Responses fixture: usage
 * of 51,097 tokens is the size before it).
 */
import type { History } from '../protocol/history.ts'
import { readSegments } from '../protocol/read-segments.ts'
import type { JsonObject } from '../protocol/segment.ts'
import { createContextMeter } from './context-size.ts'
import { buildTokenTable, type CountTokens } from './count-history.ts'

export interface ContextEstimate {
  readonly tokens: number
  readonly basis: 'usage' | 'count'
  /** Why the counters were not used, when they were given. */
  readonly ignored: 'stale-after-compaction' | 'implausible' | null
}

/** @param usage counters of the newest call as the provider returned them; null when there are none */
export function estimateContext(input: {
  readonly history: History
  readonly usage: JsonObject | null
  readonly countTokens: CountTokens
}): ContextEstimate {
  const { history, usage, countTokens } = input
  const live = afterCompaction(history)
  const count = (ignored: ContextEstimate['ignored']): ContextEstimate => ({
    tokens: buildTokenTable(live, countTokens).total,
    basis: 'count',
    ignored,
  })
  if (usage === null) return count(null)
  const reading = createContextMeter({ contextWindow: Number.POSITIVE_INFINITY, triggerRatio: 1 }).observe(usage)
  const hasPasses = Array.isArray(usage.iterations)
  if (live !== history && !hasPasses) return count('stale-after-compaction')
  return reading.contextTokens === null
    ? count('implausible')
    : { tokens: reading.contextTokens, basis: 'usage', ignored: null }
}

/** What stands behind the newest provider compaction, that item included; the same history where there is none. */
function afterCompaction(history: History): History {
  const at = history.messages.findLastIndex((message, number) =>
    readSegments(history, message, number).some(
      (segment) => segment.kind === 'opaque' && segment.type === 'compaction',
    ),
  )
  return at === -1 ? history : { ...history, messages: history.messages.slice(at) }
}
