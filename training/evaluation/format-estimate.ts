/**
 * Numbers as a reader sees them: `.918 [.901 .935]`. Pure.
 */
import type { Estimate } from './evaluation-record.ts'

/** Three decimals without the leading zero: .918, 1.000, -.020; a dash for no value. */
export function formatValue(value: number | null, digits = 3): string {
  if (value === null) return '–'
  const text = value.toFixed(digits)
  if (Math.abs(value) >= 1) return text
  return text.replace(/^(-?)0\./, '$1.')
}

export function formatInterval(interval: Estimate['interval'], digits = 3): string {
  return interval === null ? '' : `[${formatValue(interval.low, digits)} ${formatValue(interval.high, digits)}]`
}

export function formatEstimate(estimate: Estimate, digits = 3): string {
  const interval = formatInterval(estimate.interval, digits)
  const value = formatValue(estimate.value, digits)
  return interval === '' ? value : `${value} ${interval}`
}

/** A share as percent: 17.4 %. */
export function formatPercent(value: number | null): string {
  return value === null ? '–' : `${(100 * value).toFixed(1)} %`
}
