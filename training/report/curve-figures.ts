/**
 * ROC, precision by recall, and precision by coverage: one line per predictor, means over rotations. Pure.
 */
import * as Plot from '@observablehq/plot'
import type { CurveSet } from '../evaluation/evaluation-record.ts'
import { formatPercent } from '../evaluation/format-estimate.ts'
import type { Figure } from './figure.ts'
import { diagonal, draw, shareAxis, strokeOf } from './plots.ts'
import type { Series } from './series.ts'

export function rocFigure(series: readonly Series[]): Figure {
  return {
    id: 'roc',
    title: 'ROC',
    caption: 'Mean over rotations; the diagonal is chance.',
    svg: draw(
      'ROC curves: true positive rate by false positive rate',
      { x: shareAxis('false positive rate (KEEP called READY)'), y: shareAxis('true positive rate (READY found)') },
      [diagonal(), ...lines(series, 'roc', 'falsePositiveRate', 'truePositiveRate')],
    ),
    data: dataOf(series, 'roc'),
  }
}

/** @param prevalence precision of chance, drawn as a rule */
export function precisionRecallFigure(series: readonly Series[], prevalence: number | null): Figure {
  return {
    id: 'precision-recall',
    title: 'Precision and recall',
    caption: `Mean over rotations; the horizontal line is chance, the prevalence of ${formatPercent(prevalence)}.`,
    svg: draw(
      'Precision by recall',
      { x: shareAxis('recall (READY found)'), y: shareAxis('precision (found ones that are READY)') },
      [...chance(prevalence), ...lines(series, 'precisionRecall', 'recall', 'precision')],
    ),
    data: { prevalence, ...dataOf(series, 'precisionRecall') },
  }
}

/** @param prevalence precision of chance, drawn as a rule */
export function precisionCoverageFigure(series: readonly Series[], prevalence: number | null): Figure {
  return {
    id: 'precision-coverage',
    title: 'Precision and coverage',
    caption:
      'Precision of the share of pairs that score highest: how far a router that abstains on the rest can be trusted. Mean over rotations; the horizontal line is chance.',
    svg: draw(
      'Precision by coverage',
      { x: shareAxis('coverage (share of pairs called READY)'), y: shareAxis('precision') },
      [...chance(prevalence), ...lines(series, 'precisionCoverage', 'coverage', 'precision')],
    ),
    data: { prevalence, ...dataOf(series, 'precisionCoverage') },
  }
}

function lines(series: readonly Series[], curve: keyof CurveSet, x: string, y: string): readonly Plot.Markish[] {
  return series.map((one) => Plot.line([...one.predictor.curves[curve]], { x, y, ...strokeOf(one) }))
}

function chance(prevalence: number | null): readonly Plot.Markish[] {
  return prevalence === null ? [] : [Plot.ruleY([prevalence], { stroke: 'currentColor', strokeOpacity: 0.35 })]
}

function dataOf(series: readonly Series[], curve: keyof CurveSet): object {
  return { series: series.map(({ predictor }) => ({ name: predictor.name, points: predictor.curves[curve] })) }
}
