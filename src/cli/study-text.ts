/**
 * A study's record for a person.
 */
import { MIN_INTERVAL_GROUPS } from '../../training/evaluation/evaluation-record.ts'
import {
  formatEstimate,
  formatInterval,
  formatPercent,
  formatValue,
} from '../../training/evaluation/format-estimate.ts'
import type { StudyRecord } from '../../training/studies/study-record.ts'
import { createResultTable } from './result-table.ts'

export function studyText(record: StudyRecord, out: { readonly directory: string; readonly file: string }): string {
  return [
    `${record.title}. ${record.method}`,
    'Within-run AUROC on headline pairs, means over rotations, 95 % intervals by bootstrap over groups:',
    pointTable(record),
    ...(record.seedSpread.length === 0 ? [] : ['Spread between seeds:', spreadTable(record)]),
    ...(record.differences.length === 0 ? [] : ['Paired differences on the same test runs:', differenceTable(record)]),
    ...record.summary,
    ...(record.points.some(({ values }) => values.some(({ metrics }) => metrics.withinAuroc.interval !== null))
      ? []
      : [`Note: fewer than ${MIN_INTERVAL_GROUPS} test groups hold a READY pair, so there are no intervals.`]),
    ...record.caveats.map((caveat) => `Note: ${caveat}`),
    'This was a look at test results: write it down with the command that made it (this project: training/LOG.md).',
    `Written: ${out.file}`,
    `Next: keepready evaluate ${record.dataset.directory} --router ROUTER --study ${out.directory} --out report/ draws it`,
  ].join('\n')
}

function pointTable({ axis, points, predictors }: StudyRecord): string {
  const table = createResultTable([
    axis.label,
    '>groups',
    '>test runs',
    '>READY',
    ...predictors.map(({ name }) => name),
  ])
  for (const { label, training, test, prevalence, values } of points)
    table.push([
      label,
      formatValue(training.groups, Number.isInteger(training.groups) ? 0 : 1),
      test.runs,
      formatPercent(prevalence),
      ...predictors.map(({ name }) => {
        const own = values.find((one) => one.predictor === name)
        return own === undefined ? formatValue(null) : formatEstimate(own.metrics.withinAuroc)
      }),
    ])
  return table.toString()
}

function spreadTable({ seedSpread, metrics }: StudyRecord): string {
  const table = createResultTable([
    'score',
    'metric',
    '>seeds',
    '>mean',
    '>std',
    '>lowest',
    '>highest',
    '>± over groups',
  ])
  for (const one of seedSpread)
    table.push([
      one.predictor,
      metrics.find(({ name }) => name === one.metric)?.label ?? one.metric,
      one.seeds,
      formatValue(one.mean),
      formatValue(one.standardDeviation),
      formatValue(one.low),
      formatValue(one.high),
      formatValue(one.groupHalfWidth),
    ])
  return table.toString()
}

function differenceTable({ differences, metrics }: StudyRecord): string {
  const table = createResultTable(['metric', 'this', 'minus that', '>difference', 'interval', 'verdict'])
  for (const { metric, a, b, difference, interval, verdict } of differences)
    table.push([
      metrics.find(({ name }) => name === metric)?.label ?? metric,
      `${a.predictor}, ${a.point}`,
      `${b.predictor}, ${b.point}`,
      formatValue(difference),
      formatInterval(interval),
      verdict.replaceAll('-', ' '),
    ])
  return table.toString()
}
