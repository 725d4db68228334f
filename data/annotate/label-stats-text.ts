/**
 * Label statistics for a person: tables and a histogram of text bars. Pure.
 */
import { type LabelStats, MIN_FUTURE_INTERACTIONS, type PairCount, prevalence } from './label-stats.ts'

const BAR_CHARS = 40

export function labelStatsText(stats: LabelStats): string {
  const lines = [
    `${whole(stats.runs)} runs, ${whole(stats.interactions)} interactions, labelled by ${stats.annotators.join(', ') || 'nobody'}`,
    `pairs          ${pairText(stats.all)}, mean over runs ${percent(stats.meanRunPrevalence)}`,
    `pairs with >= ${MIN_FUTURE_INTERACTIONS} interactions to come  ${pairText(stats.withFuture)}`,
  ]
  if (stats.truncated.runs > 0)
    lines.push(
      `${whole(stats.truncated.runs)} runs (${whole(stats.truncated.pairs)} pairs) were cut by a limit: "no later use" may only mean that they stopped`,
    )
  const domainWidth = Math.max(6, ...stats.byDomain.map((domain) => domain.name.length))
  lines.push(
    '',
    `${'domain'.padEnd(domainWidth)}  ${'runs'.padStart(6)} ${'pairs'.padStart(10)} ${'READY'.padStart(7)}   ${`>= ${MIN_FUTURE_INTERACTIONS} to come`.padStart(12)} ${'READY'.padStart(7)}`,
  )
  for (const domain of stats.byDomain)
    lines.push(
      `${domain.name.padEnd(domainWidth)}  ${whole(domain.runs).padStart(6)} ${whole(domain.pairs).padStart(10)} ${share(domain)}   ${whole(domain.withFuture.pairs).padStart(12)} ${share(domain.withFuture)}`,
    )
  lines.push('', `age c-i  ${'pairs'.padStart(10)} ${'READY'.padStart(7)}`)
  for (const bucket of stats.byAge)
    lines.push(
      `${bucket.name.padEnd(7)}  ${whole(bucket.pairs).padStart(10)} ${share(bucket)}  ${bar(prevalence(bucket))}`,
    )
  const most = Math.max(1, ...stats.boundaries.map((bucket) => bucket.interactions))
  lines.push('', 'boundary b-i: how long after it an interaction becomes READY')
  for (const bucket of stats.boundaries)
    lines.push(
      `${bucket.name.padEnd(10)}  ${whole(bucket.interactions).padStart(8)}  ${bar(bucket.interactions / most)}`,
    )
  return lines.map((line) => line.trimEnd()).join('\n')
}

function pairText(count: PairCount): string {
  return `${whole(count.pairs)}, READY ${whole(count.ready)} (${percent(prevalence(count))})`
}

function share(count: PairCount): string {
  return (count.pairs === 0 ? '-' : percent(prevalence(count))).padStart(7)
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}

function whole(value: number): string {
  return value.toLocaleString('en-US')
}

/** A value of (0, 1] shows at least one block. */
function bar(value: number): string {
  return '\u2588'.repeat(value === 0 ? 0 : Math.max(1, Math.round(value * BAR_CHARS)))
}
