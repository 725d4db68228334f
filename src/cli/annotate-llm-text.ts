/**
 * What `annotate --annotator llm` tells a person: what would be sent where, what it will cost, what came of it.
 */
import type { AnnotationEstimate, CallEstimate } from '../../data/annotate/llm/estimate.ts'
import { FAILURE_MEANING, type FailureCounts } from '../../data/annotate/llm/failure.ts'
import type { LlmReport } from '../../data/annotate/llm/report.ts'
import { actingTokenizer } from '../../models/tokenizer/acting-tokens.ts'
import type { LlmSettings } from './annotate-llm-flags.ts'
import { formatCount } from './progress.ts'
import { createResultTable } from './result-table.ts'

/** What leaves the machine, and where to. */
export function noticeText(
  settings: LlmSettings,
  sent: { readonly runs: number; readonly interactions: number; readonly masked: number | null },
): string {
  const { endpoint, model } = settings
  const where = endpoint.loopback ? ' (this machine; that server may pass it on)' : ''
  const plain = endpoint.plainText ? '\nwarning: http sends it unencrypted' : ''
  const how =
    sent.masked === null
      ? 'as it is in the runs: prompts, reasoning, tool calls, results, whatever they hold'
      : `with ${formatCount(sent.masked)} secrets masked; rules find known forms, not every secret`
  return (
    `to:   ${endpoint.shown}${where}, model ${model}\n` +
    `what: the text of ${formatCount(sent.runs)} runs, ${formatCount(sent.interactions)} interactions, ${how}${plain}`
  )
}

export function estimateText(estimate: AnnotationEstimate, settings: LlmSettings): string {
  const { encoding } = actingTokenizer(settings.model)
  const counted = `tokens by ${encoding.name}${encoding.isEstimate ? ', an estimate for this model' : ''}`
  const table = createResultTable(['calls', '>number', '>prompt tokens', '>answers, usual', '>answers, at most'])
  const row = (name: string, sure: string, calls: CallEstimate): void =>
    table.push([
      name,
      `${sure}${formatCount(calls.calls)}`,
      `${sure}${formatCount(calls.promptTokens)}`,
      calls.likelyOutputTokens === 0 ? '-' : formatCount(calls.likelyOutputTokens),
      formatCount(calls.mostOutputTokens),
    ])
  row('stage 1', '', estimate.stageOne)
  row('stage 2', '<= ', estimate.stageTwo)
  row('repairs', '<= ', estimate.repairs)
  const lines = [
    `${formatCount(estimate.runs)} runs, ${formatCount(estimate.checkpoints)} checkpoints, ` +
      `${formatCount(estimate.records)} records (${counted})`,
    table.toString(),
  ]
  if (estimate.runsWithoutCalls > 0)
    lines.push(`${estimate.runsWithoutCalls} runs need no call: too short for a target, or too long for the context`)
  if (estimate.answered > 0)
    lines.push(`${formatCount(estimate.answered)} stage-1 answers are in the journal and cost nothing`)
  lines.push(costLine(estimate, settings))
  return lines.join('\n')
}

function costLine(estimate: AnnotationEstimate, settings: LlmSettings): string {
  const { cost } = estimate
  if (cost === null || settings.prices === null)
    return 'price: unknown; give --price-in and --price-out, or --prices FILE'
  const of = settings.prices.date === null ? '' : `, prices of ${settings.prices.date}`
  const budget = settings.budgetUsd === null ? '' : `; the budget stops at ${usd(settings.budgetUsd)}`
  return `price: about ${usd(cost.likelyUsd)}, at most ${usd(cost.mostUsd)} without retries${of}${budget}`
}

export function reportText(report: LlmReport): string {
  const { calls, stageOne, stageTwo, repairs, lineage } = report
  const lines = [
    `${formatCount(calls.asked)} answers asked for, ${formatCount(calls.fromJournal)} from the journal, ` +
      `${formatCount(calls.retries)} retries, ${formatCount(calls.lostAttempts)} broken off, ` +
      `${formatCount(calls.unanswered)} without an answer`,
    `${formatCount(calls.usage.promptTokens)} prompt tokens (${formatCount(calls.usage.cachedTokens)} cached), ` +
      `${formatCount(calls.usage.outputTokens)} answer tokens` +
      `${report.spentUsd === null ? '' : `; ${usd(report.spentUsd)} in all`}`,
    `stage 1: ${formatCount(stageOne.records)} records, ${formatCount(stageOne.ready)} READY, ` +
      `${formatCount(stageOne.keep)} KEEP, ${formatCount(total(stageOne.failures))} failed`,
    ...failureLines(stageOne.failures),
    `stage 2: ${formatCount(stageTwo.verdicts)} verdicts, ${formatCount(total(stageTwo.failures))} failed`,
    ...failureLines(stageTwo.failures),
    `repairs: ${formatCount(repairs.asked)} asked for, ${formatCount(repairs.done)} mended everything`,
  ]
  if (lineage !== null) {
    const table = createResultTable(['against lineage', '>pairs', '>same', '>kappa'])
    for (const one of [{ name: 'all', ...lineage }, ...lineage.byDomain])
      table.push([one.name, formatCount(one.pairs), percent(one.same), one.kappa === null ? '-' : one.kappa.toFixed(3)])
    lines.push('', table.toString())
  }
  return lines.join('\n')
}

function failureLines(failures: FailureCounts): readonly string[] {
  return Object.entries(FAILURE_MEANING).flatMap(([code, meaning]) => {
    const count = failures[code as keyof FailureCounts]
    return count === undefined ? [] : [`  ${formatCount(count)} ${code}: ${meaning}`]
  })
}

function total(failures: FailureCounts): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0)
}

function percent(share: number | null): string {
  return share === null ? '-' : `${(100 * share).toFixed(1)} %`
}

export function usd(amount: number): string {
  return `$${amount.toFixed(amount < 1 ? 4 : 2)}`
}
