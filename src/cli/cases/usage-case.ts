/** `trigger`: a series of usage counters, read call by call. */
import { createContextMeter, DEFAULT_CACHE_READ_SLACK } from '../../compaction/context-size.ts'
import { isObject } from '../../protocol/segment.ts'
import type { CaseFile } from './case-file.schema.ts'
import type { CaseResult } from './case-result.ts'

export function runUsageCase(given: CaseFile): CaseResult {
  const { params, input } = given
  const meter = createContextMeter({
    contextWindow: Number(params.contextWindow ?? Number.POSITIVE_INFINITY),
    triggerRatio: Number(params.triggerRatio ?? 1),
    cacheReadSlack: Number(params.plausibleCacheReadSlack ?? DEFAULT_CACHE_READ_SLACK),
  })
  const calls = isObject(input) && Array.isArray(input.calls) ? input.calls.filter((call) => isObject(call)) : []
  const readings = calls.map((call) => meter.observe(call))
  const output = {
    triggers: readings.map((reading) => reading.trigger),
    context_tokens: readings.map((reading) => reading.contextTokens),
    ignored: readings.map((reading) => reading.ignored),
  }
  return { given, output, input: null, trajectory: null, rendered: null, thrown: null }
}
