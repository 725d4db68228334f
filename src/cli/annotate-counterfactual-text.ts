/** The counterfactual annotator's report for a person. Pure. */
import type { CounterfactualReport } from '../../data/annotate/counterfactual/report.ts'
import { formatCount } from './progress.ts'
import { createResultTable } from './result-table.ts'

export function counterfactualReportText(report: CounterfactualReport): string {
  const chance = 1 - report.quantile
  const distances = createResultTable(['j - i', '>pairs', '>above', '>gain (nats)', '>gain (units)', '>uptake'])
  for (const row of report.byDistance)
    distances.push([
      row.distance,
      formatCount(row.pairs),
      percent(row.above),
      row.medianNats.toFixed(2),
      row.medianUnits.toFixed(2),
      percent(row.uptake),
    ])
  const agreement = createResultTable(['score', 'j - i', '>pairs', '>AUROC', '95 % over groups'])
  for (const { score, beyond, pairs, auroc, interval } of report.agreement)
    agreement.push([
      score,
      beyond === 0 ? 'all' : `> ${beyond}`,
      formatCount(pairs),
      auroc === null ? '-' : auroc.toFixed(3),
      interval === null ? '-' : `[${interval.low.toFixed(3)}, ${interval.high.toFixed(3)}]`,
    ])
  const quantiles = createResultTable(['>quantile', '>limit (units)', '>above', '>by chance', '>READY'])
  for (const row of report.byQuantile)
    quantiles.push([
      percent(row.quantile),
      row.limitUnits.toFixed(2),
      percent(row.above),
      percent(1 - row.quantile),
      percent(row.prevalence),
    ])
  return [
    `${formatCount(report.pairs)} pairs (i, j) of ${formatCount(report.actions)} actions in ${report.runs} runs against ` +
      `${formatCount(report.placebos)} placebos`,
    `above the placebos' ${percent(report.quantile)} quantile (${report.limitUnits.toFixed(2)} units): ` +
      `${percent(report.above)} of the gains; by chance alone ${percent(chance)}`,
    '',
    'medians by distance; above: share over the quantile; uptake: action j uses a literal that S_i introduced',
    distances.toString(),
    '',
    `does the gain find uptake? ${formatCount(report.uptakePairs)} pairs with uptake: ` +
      `${optional(report.aboveWithUptake)} of them above, of the others ${optional(report.aboveWithoutUptake)}`,
    agreement.toString(),
    '',
    `labels by ${report.annotator}: ${formatCount(report.labelledPairs)} pairs (i, c), ${percent(report.prevalence)} READY; with other quantiles`,
    quantiles.toString(),
  ].join('\n')
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}

function optional(value: number | null): string {
  return value === null ? '-' : percent(value)
}
