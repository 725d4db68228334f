/** Tables of a study: paired differences between its points, and how much the seed alone moves a value. Pure. */
import { formatInterval, formatValue } from '../evaluation/format-estimate.ts'
import type { StudyRecord } from '../studies/study-record.ts'
import { type Html, html } from './html.ts'
import { signed, VERDICT_CLASS, VERDICT_WORDS } from './tables.ts'

/** Null for a study without paired differences. */
export function studyDifferenceTable(study: StudyRecord): Html | null {
  if (study.differences.length === 0) return null
  const side = ({ predictor, point }: StudyRecord['differences'][number]['a']): string => `${predictor} at ${point}`
  return html`<div class="scroll"><table>
<caption>Differences on the same test runs, with their paired 95 % intervals</caption>
<thead><tr><th>score</th><th>verdict</th><th>against</th><th>metric</th><th class="number">difference</th></tr></thead>
<tbody>${study.differences.map(
    (one) =>
      html`<tr><th scope="row">${side(one.a)}</th><td><span class="${VERDICT_CLASS[one.verdict]}">${VERDICT_WORDS[one.verdict]}</span></td><td>${side(one.b)}</td><td>${metricLabel(study, one.metric)}</td><td class="number">${signed(one.difference)} <span class="interval">${formatInterval(one.interval)}</span></td></tr>\n`,
  )}</tbody></table></div>`
}

/** Null for a study without a spread. */
export function seedTable(study: StudyRecord): Html | null {
  if (study.seedSpread.length === 0) return null
  return html`<div class="scroll"><table>
<caption>How much the seed alone moves a value, beside how much the choice of groups does</caption>
<thead><tr><th>score</th><th>metric</th><th class="number">seeds</th><th class="number">mean</th><th class="number">standard deviation</th><th class="number">lowest</th><th class="number">highest</th><th class="number">half interval over groups</th></tr></thead>
<tbody>${study.seedSpread.map(
    (spread) =>
      html`<tr><th scope="row">${spread.predictor}</th><td>${metricLabel(study, spread.metric)}</td><td class="number">${spread.seeds}</td><td class="number">${formatValue(spread.mean)}</td><td class="number">${formatValue(spread.standardDeviation)}</td><td class="number">${formatValue(spread.low)}</td><td class="number">${formatValue(spread.high)}</td><td class="number">${formatValue(spread.groupHalfWidth)}</td></tr>\n`,
  )}</tbody></table></div>`
}

function metricLabel(study: StudyRecord, name: string): string {
  return study.metrics.find((metric) => metric.name === name)?.label ?? name
}
