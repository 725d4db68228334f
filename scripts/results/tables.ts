/** Tables of docs/results.md from evaluation records. Pure. */
import type {
  EvaluationRecord,
  Metrics,
  PredictorRecord,
  ScopeMetrics,
} from '../../training/evaluation/evaluation-record.ts'
import { formatEstimate, formatValue } from '../../training/evaluation/format-estimate.ts'

export function headlineTable(record: EvaluationRecord): string {
  const rows = record.predictors.map((predictor) => {
    const metrics = overall(predictor)
    return [
      nameOf(predictor),
      estimate(metrics?.withinAuroc),
      estimate(metrics?.averagePrecision),
      value(metrics?.lift.value),
    ]
  })
  return table(['score', 'within AUROC', 'PR-AUC', 'lift'], rows)
}

export function domainTable(record: EvaluationRecord): string {
  const scopes = (record.predictors[0]?.subsets.headline.scopes ?? []).filter(({ kind }) => kind === 'domain')
  const counts = ['tested runs / groups', ...scopes.map(({ runs, groups }) => `${runs} / ${groups}`)]
  const pairs = [
    'headline pairs, prevalence',
    ...scopes.map((scope) => `${scope.pairs.toLocaleString('en-US')}, ${value(scope.metrics.prevalence.value)}`),
  ]
  const rows = record.predictors.map((predictor) => [
    nameOf(predictor),
    ...scopes.map(({ name }) => {
      const metrics = predictor.subsets.headline.scopes.find((scope) => scope.name === name)?.metrics
      return `${estimate(metrics?.withinAuroc)}; ${value(metrics?.averagePrecision.value)}, ${value(metrics?.lift.value, 1)}`
    }),
  ])
  return table(['score', ...scopes.map(({ name }) => name)], [counts, pairs, ...rows])
}

/** What the served input does at each operating point. */
export function operatingPointTable(record: EvaluationRecord): string {
  const rows = record.predictors
    .filter(({ kind }) => kind === 'router')
    .flatMap((predictor) =>
      predictor.subsets.headline.operatingPoints.map(({ name, taus, rates }) => [
        nameOf(predictor),
        name,
        `${taus.filter((tau) => tau !== null).length} of ${taus.length}`,
        estimate(rates.precision),
        estimate(rates.recall),
        estimate(rates.prematureRate),
        value(rates.delay.value, 1),
      ]),
    )
  return table(['input', 'operating point', 'rotations', 'precision', 'recall', 'premature', 'delay'], rows)
}

export function countsSentence(record: EvaluationRecord): string {
  const { headline } = record.counts
  const count = (number: number): string => number.toLocaleString('en-US')
  const prevalence = value(headline.ready / Math.max(1, headline.pairs))
  return `${count(headline.runs)} tested runs of ${count(headline.groups)} groups, ${count(headline.mixedRuns)} with both classes; ${count(headline.pairs)} headline pairs, prevalence ${prevalence}.`
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function overall(predictor: PredictorRecord): Metrics | undefined {
  return predictor.subsets.headline.scopes.find((scope: ScopeMetrics) => scope.kind === 'all')?.metrics
}

function nameOf({ kind, name }: PredictorRecord): string {
  return kind === 'router' ? `**${name}**` : name
}

function estimate(one: Metrics['auroc'] | undefined): string {
  return one === undefined ? '-' : formatEstimate(one)
}

function value(number: number | null | undefined, digits = 3): string {
  return formatValue(number ?? null, digits)
}
