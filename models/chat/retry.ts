/**
 * When to ask again, and after how long. Pure.
 */
import type { Rng } from '../../src/rng.ts'

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number
  /** Wait before the first retry, at most; doubled each time. */
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  /** A server that wants a longer pause is not waited for. */
  readonly maxRetryAfterMs: number
}

/** Assumption: seven attempts over about two minutes outlive a rate-limit window of one minute and a restart. */
export const DEFAULT_RETRY: RetryPolicy = {
  maxRetries: 6,
  baseDelayMs: 1_000,
  maxDelayMs: 60_000,
  maxRetryAfterMs: 300_000,
}

/** 529 is Anthropic's "overloaded", passed on by gateways. */
const RETRIED = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529])

export function isRetriedStatus(status: number): boolean {
  return RETRIED.has(status)
}

/**
 * Wait before retry number `retry` (0-based): a random half to whole of base * 2^retry, and never less than the server asks
 * for; what it asks for gets a random addition too, so that clients told the same do not return together.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  state: { readonly retry: number; readonly retryAfterMs: number | null; readonly rng: Rng },
): number {
  const { retry, retryAfterMs, rng } = state
  const ceiling = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** Math.min(retry, 30))
  const backoff = Math.round(ceiling * (0.5 + 0.5 * rng.nextFloat()))
  if (retryAfterMs === null) return backoff
  return Math.max(backoff, retryAfterMs + Math.round(policy.baseDelayMs * rng.nextFloat()))
}

/**
 * The pause a response asks for: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date.
 *   returns  null where there is none, or none that can be read
 */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | null {
  const precise = headers.get('retry-after-ms')
  if (precise !== null && /^\d+(\.\d+)?$/.test(precise.trim())) return Math.ceil(Number(precise))
  const value = headers.get('retry-after')?.trim()
  if (value === undefined || value === '') return null
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs)
}
