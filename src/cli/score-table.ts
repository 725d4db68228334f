/** Scores and plans as tables for a person. Pure. */
import type { PlanResponse, ScoreResponse } from '../../server/wire/responses.schema.ts'
import { createResultTable } from './result-table.ts'

export function renderScoreTable(score: ScoreResponse): string {
  const table = createResultTable(['>interaction', '>p', '>margin', '>tokens', 'verdict'])
  for (const item of score.interactions) {
    table.push([
      item.interaction,
      item.p === null ? '' : item.p.toFixed(3),
      item.margin === null ? '' : item.margin.toFixed(2),
      item.source_tokens,
      item.ready ? 'READY' : item.eligible ? 'KEEP' : `KEEP (${item.reason ?? 'not eligible'})`,
    ])
  }
  const ready = score.interactions.filter((item) => item.ready)
  const tokens = ready.reduce((sum, item) => sum + item.source_tokens, 0)
  const tau = score.tau === null ? 'none' : score.tau.toFixed(3)
  return `${table.toString()}\n${ready.length} of ${score.interactions.length} interactions READY (${tokens} tokens) at operating point ${score.operating_point}, tau ${tau}`
}

export function renderPlanTable(plan: PlanResponse): string {
  const table = createResultTable(['interactions', '>tokens', 'length', 'source-tokens', 'shrink', 'verdict'])
  for (const span of plan.spans) {
    const gate = (name: string): string => {
      const found = span.gates.find((item) => item.name === name)
      return found === undefined ? '' : `${found.pass ? 'pass' : 'FAIL'} ${found.value} (limit ${found.limit})`
    }
    table.push([
      `${span.start}-${span.end - 1}`,
      span.source_tokens,
      gate('length'),
      gate('source-tokens'),
      gate('shrink'),
      span.accepted ? 'replace' : 'leave',
    ])
  }
  const { before, after } = plan.tokens
  const figures = `tokens (o200k estimate): ${before} before, ${after} predicted after (${percent(before, after)})`
  return plan.spans.length === 0 ? `no READY span\n${figures}` : `${table.toString()}\n${figures}`
}

/** e.g. `-34 %` */
export function percent(before: number, after: number): string {
  const change = before === 0 ? 0 : Math.round(((after - before) / before) * 100)
  if (change === 0) return '0 %'
  return `${change > 0 ? '+' : ''}${change} %`
}
