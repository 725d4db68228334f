/**
 * Tables of the report. Pure: records in, Html out.
 */
import type {
  ComparisonRecord,
  Estimate,
  EvaluationRecord,
  MetricName,
  PooledMetricName,
  PredictorRecord,
  RateName,
  ScopeMetrics,
  SubsetName,
  Verdict,
} from '../evaluation/evaluation-record.ts'
import { formatInterval, formatValue } from '../evaluation/format-estimate.ts'
import type { PooledEstimate } from '../evaluation/router-study-record.ts'
import { type Html, type HtmlPart, html } from './html.ts'

export const VERDICT_WORDS: Readonly<Record<Verdict, string>> = {
  beats: 'beats',
  'is-worse': 'worse than',
  'no-difference-shown': 'does not beat',
  'cannot-tell': 'cannot tell',
}

/** Good and bad stand out in bold as well as in colour; an open verdict does not. */
export const VERDICT_CLASS: Readonly<Record<Verdict, string>> = {
  beats: 'beats',
  'is-worse': 'is-worse',
  'no-difference-shown': '',
  'cannot-tell': '',
}

interface Column {
  readonly title: string
  readonly cell: (predictor: PredictorRecord) => HtmlPart
}

/** Every predictor, routers first. */
export function headlineTable(record: EvaluationRecord, subset: SubsetName): Html {
  return predictorTable(record, scopeColumns(subset, 'all'), {
    caption: subset === 'headline' ? 'Headline pairs' : 'All pairs',
  })
}

export function domainTable(record: EvaluationRecord, scope: ScopeMetrics): Html {
  const prevalence = scope.metrics.prevalence.value
  return predictorTable(record, scopeColumns('headline', scope.name), {
    caption: `${scope.pairs.toLocaleString('en-US')} headline pairs of ${scope.runs} runs in ${scope.groups} groups, prevalence ${formatValue(prevalence)}`,
  })
}

function scopeColumns(subset: SubsetName, scopeName: string): readonly Column[] {
  const metric = (name: MetricName, digits?: number) => (predictor: PredictorRecord) =>
    estimateCell(
      predictor.subsets[subset].scopes.find((scope) => scope.name === scopeName)?.metrics[name] ?? null,
      digits,
    )
  const pooled = (name: PooledMetricName) => (predictor: PredictorRecord) =>
    estimateCell(predictor.subsets[subset].scopes.find((scope) => scope.name === scopeName)?.pooled[name] ?? null)
  return [
    { title: 'within-run AUROC', cell: metric('withinAuroc') },
    { title: 'each run once', cell: pooled('withinAuroc') },
    { title: 'pair-weighted', cell: metric('withinAurocPairWeighted') },
    { title: 'within PR-AUC', cell: metric('withinAveragePrecision') },
    { title: 'its lift', cell: metric('withinLift', 2) },
    { title: 'AUROC', cell: metric('auroc') },
    { title: 'pair-weighted', cell: metric('aurocPairWeighted') },
    { title: 'PR-AUC', cell: metric('averagePrecision') },
    { title: 'pair-weighted', cell: metric('averagePrecisionPairWeighted') },
    { title: 'lift', cell: metric('lift', 2) },
  ]
}

/** Rows are baselines and the other inputs, columns are trained inputs: the difference with its paired interval. */
export function verdictTable(record: EvaluationRecord): Html {
  const routers = record.predictors.filter((predictor) => predictor.kind === 'router')
  const others = [...record.predictors].sort((a, b) => Number(a.kind === 'router') - Number(b.kind === 'router'))
  const find = (a: string, b: string): ComparisonRecord | undefined =>
    record.comparisons.find((one) => one.a === a && one.b === b && one.scope === 'all' && one.metric === 'withinAuroc')
  return html`<div class="scroll"><table>
<caption>Difference in within-trajectory AUROC, with its paired 95 % interval</caption>
<thead><tr><th>against</th>${routers.map((router) => html`<th>${router.name}</th>`)}</tr></thead>
<tbody>${others.map(
    (other, at) =>
      html`<tr class="${at > 0 && other.kind === 'router' && others[at - 1]?.kind === 'baseline' ? 'break' : ''}"><th scope="row">${other.name}</th>${routers.map(
        (router) => {
          const one = find(router.name, other.name)
          if (one === undefined) return html`<td></td>`
          return html`<td><span class="${VERDICT_CLASS[one.verdict]}">${VERDICT_WORDS[one.verdict]}</span> ${signed(one.difference)} <span class="interval">${formatInterval(one.interval)}</span></td>`
        },
      )}</tr>\n`,
  )}</tbody></table></div>`
}

const RATES: readonly { readonly title: string; readonly name: RateName; readonly beside?: RateName }[] = [
  { title: 'precision', name: 'precision', beside: 'precisionPairWeighted' },
  { title: 'recall', name: 'recall', beside: 'recallPairWeighted' },
  { title: 'F1', name: 'f1', beside: 'f1PairWeighted' },
  { title: 'balanced accuracy', name: 'balancedAccuracy', beside: 'balancedAccuracyPairWeighted' },
  { title: 'false positive rate', name: 'falsePositiveRate', beside: 'falsePositiveRatePairWeighted' },
  { title: 'called READY', name: 'selectedShare' },
  { title: 'premature', name: 'prematureRate' },
  { title: 'delay', name: 'delay' },
  { title: 'caught', name: 'caughtShare' },
]

export function operatingPointTable(record: EvaluationRecord): Html {
  const routers = record.predictors.filter((predictor) => predictor.kind === 'router')
  return html`<div class="scroll"><table>
<caption>Headline pairs; under each value its interval, then the pair-weighted value</caption>
<thead><tr><th>input</th><th>point</th><th class="number">tau per rotation</th>${RATES.map((rate) => html`<th class="number">${rate.title}</th>`)}</tr></thead>
<tbody>${routers.flatMap((router) =>
    router.subsets.headline.operatingPoints.map(
      (point, at) =>
        html`<tr class="${at === 0 ? 'break router' : ''}"><th scope="row">${at === 0 ? router.name : ''}</th><td>${point.name}</td><td class="number">${tauWords(point.taus)}</td>${RATES.map((rate) => rateCell(point.rates[rate.name], rate.beside === undefined ? null : point.rates[rate.beside]))}</tr>\n`,
    ),
  )}</tbody></table></div>`
}

export function calibrationTable(record: EvaluationRecord): Html {
  const rows = record.predictors.flatMap((predictor) => {
    const { calibration, temperature, calibrated } = predictor.subsets.headline
    return [
      ...(calibration === null ? [] : [{ predictor, how: 'as it is', calibration }]),
      ...(temperature === null ? [] : [{ predictor, how: 'temperature', calibration: temperature }]),
      ...(calibrated === null ? [] : [{ predictor, how: 'isotonic', calibration: calibrated }]),
    ]
  })
  return html`<div class="scroll"><table>
<thead><tr><th>score</th><th></th><th class="number">ECE</th><th class="number">pair-weighted</th><th class="number">Brier</th><th class="number">pair-weighted</th><th class="number">log loss</th></tr></thead>
<tbody>${rows.map(
    ({ predictor, how, calibration }) =>
      html`<tr class="${predictor.kind}"><th scope="row">${predictor.name}</th><td>${predictor.kind === 'router' ? how : ''}</td><td class="number">${estimateCell(calibration.ece)}</td><td class="number">${estimateCell(calibration.ecePairWeighted)}</td><td class="number">${estimateCell(calibration.brier)}</td><td class="number">${estimateCell(calibration.brierPairWeighted)}</td><td class="number">${estimateCell(calibration.logLoss)}</td></tr>\n`,
  )}</tbody></table></div>`
}

/** Within-trajectory AUROC of each rotation, and by length of the run. */
export function rotationTable(record: EvaluationRecord): Html {
  const columns = Array.from(
    { length: record.rotations },
    (_, rotation): Column => ({
      title: `rotation ${rotation}`,
      cell: (predictor) => {
        const estimate = scopeOf(predictor, 'all')?.metrics.withinAuroc.rotations[rotation]
        if (estimate === undefined) return '–'
        return html`${formatValue(estimate.value)}<br><span class="interval">${formatInterval(estimate.interval)}</span>`
      },
    }),
  )
  return predictorTable(record, columns, { caption: 'Within-trajectory AUROC on headline pairs' })
}

export function lengthTable(record: EvaluationRecord): Html | null {
  const scopes = record.predictors[0]?.subsets.headline.scopes.filter((scope) => scope.kind === 'length') ?? []
  if (scopes.length === 0) return null
  const columns = scopes.map(
    (scope): Column => ({
      title: `${scope.name} (${scope.runs} runs)`,
      cell: (predictor) => estimateCell(scopeOf(predictor, scope.name)?.metrics.withinAuroc ?? null),
    }),
  )
  return predictorTable(record, columns, { caption: 'Within-trajectory AUROC by number of interactions of the run' })
}

function predictorTable(
  record: EvaluationRecord,
  columns: readonly Column[],
  options: { readonly caption: string },
): Html {
  const firstBaseline = record.predictors.findIndex((predictor) => predictor.kind === 'baseline')
  return html`<div class="scroll"><table>
<caption>${options.caption}</caption>
<thead><tr><th>score</th>${columns.map((column) => html`<th class="number">${column.title}</th>`)}</tr></thead>
<tbody>${record.predictors.map(
    (predictor, at) =>
      html`<tr class="${predictor.kind}${at === firstBaseline ? ' break' : ''}"><th scope="row">${predictor.name}</th>${columns.map((column) => html`<td class="number">${column.cell(predictor)}</td>`)}</tr>\n`,
  )}</tbody></table></div>`
}

function scopeOf(predictor: PredictorRecord, name: string): ScopeMetrics | undefined {
  return predictor.subsets.headline.scopes.find((scope) => scope.name === name)
}

/** The interval stands under its value: tables stay narrow enough for a phone. */
function estimateCell(estimate: PooledEstimate | null, digits = 3): HtmlPart {
  if (estimate === null) return '–'
  const interval = formatInterval(estimate.interval, digits)
  return interval === ''
    ? formatValue(estimate.value, digits)
    : html`${formatValue(estimate.value, digits)}<br><span class="interval">${interval}</span>`
}

function rateCell(estimate: Estimate, beside: Estimate | null): Html {
  const interval = formatInterval(estimate.interval, 2)
  return html`<td class="number">${formatValue(estimate.value)}${interval === '' ? null : html`<br><span class="interval">${interval}</span>`}${beside === null ? null : html`<br><span class="interval">pw ${formatValue(beside.value)}</span>`}</td>`
}

/** The range over rotations. */
export function tauWords(taus: readonly (number | null)[]): string {
  const known = taus.filter((tau) => tau !== null)
  if (known.length === 0) return 'none: never READY'
  const low = formatValue(Math.min(...known), 2)
  const high = formatValue(Math.max(...known), 2)
  const range = low === high ? low : `${low} to ${high}`
  return known.length === taus.length ? range : `${range}, none in ${taus.length - known.length} of ${taus.length}`
}

export function numberCell(value: number | null, digits = 3): Html {
  return html`<td class="number">${formatValue(value, digits)}</td>`
}

export function signed(value: number | null): string {
  return value === null ? '' : `${value >= 0 ? '+' : ''}${formatValue(value)}`
}
