/**
 * What calls cost. Pure.
 */
import type { ChatUsage } from '../../../models/chat/port.ts'

/** US dollars per million tokens. */
export interface Prices {
  readonly input: number
  /** Prompt tokens the provider had cached. */
  readonly cachedInput: number
  readonly output: number
  /** Day the prices were looked up, `2026-01-31`; null where they were given without. */
  readonly date: string | null
}

/** @returns US dollars */
export function costOf(usage: ChatUsage, prices: Prices): number {
  const { promptTokens, cachedTokens, outputTokens } = usage
  const fresh = Math.max(0, promptTokens - cachedTokens)
  return (fresh * prices.input + cachedTokens * prices.cachedInput + outputTokens * prices.output) / 1e6
}
