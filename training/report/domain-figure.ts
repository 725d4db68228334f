/**
 * Within-trajectory AUROC by domain, of the routers and of the baselines that know only age. Pure.
 */
import type { EvaluationRecord } from '../evaluation/evaluation-record.ts'
import type { Figure } from './figure.ts'
import { type ForestRow, forestPlot } from './forest-figure.ts'
import { seriesOf } from './series.ts'

const BASELINES: ReadonlySet<string> = new Set(['age', 'age-position-length-lr', 'observation-tfidf-lr'])

export function domainFigure(record: EvaluationRecord): Figure {
  const scopes = (record.predictors[0]?.subsets.headline.scopes ?? []).filter((scope) => scope.kind === 'domain')
  const shown = seriesOf(record).filter(({ predictor }) => predictor.kind === 'router' || BASELINES.has(predictor.name))
  const rows = scopes.flatMap((scope) =>
    shown.flatMap(({ predictor, colour }): readonly (ForestRow & { readonly readyGroups: number })[] => {
      const estimate = predictor.subsets.headline.scopes.find((one) => one.name === scope.name)?.metrics.withinAuroc
      if (estimate === undefined) return []
      const { value, interval, readyGroups } = estimate
      return [{ band: scope.name, name: predictor.name, colour, value, interval, readyGroups }]
    }),
  )
  return {
    id: 'domains-plot',
    title: 'Within-trajectory AUROC by domain',
    caption:
      'Dots are means over rotations, bars 95 % intervals; a dot without a bar has fewer than 10 test groups with a READY pair. The dashed line is chance.',
    wide: true,
    svg: forestPlot(rows, {
      label: 'Within-trajectory AUROC by domain',
      axis: 'within-trajectory AUROC',
      reference: 0.5,
      domain: [0.4, 1],
    }),
    data: { rows: rows.map(({ band, colour: _, ...row }) => ({ domain: band, ...row })) },
  }
}
