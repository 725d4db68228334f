/**
 * What a study found: a metric against the share of training groups, by left-out domain, or by seed. Pure.
 */
import * as Plot from '@observablehq/plot'
import type { Interval } from '../../src/metrics/bootstrap.ts'
import { formatValue } from '../evaluation/format-estimate.ts'
import type { StudyMetric, StudyPoint, StudyPredictor, StudyRecord } from '../studies/study-record.ts'
import type { Figure } from './figure.ts'
import { forestPlot } from './forest-figure.ts'
import { type Html, html } from './html.ts'
import { draw, lineSample, shareAxis, strokeOf } from './plots.ts'
import { type LineStyle, lineStyleOf } from './series.ts'

/** Drawn; the others stand in the data. */
const DRAWN = ['withinAuroc', 'averagePrecision'] as const

/** @param number distinguishes the studies of one page */
export function studyFigures(study: StudyRecord, number: number): readonly Figure[] {
  return DRAWN.flatMap((name): readonly Figure[] => {
    const metric = study.metrics.find((one) => one.name === name)
    return metric === undefined ? [] : [studyFigure(study, metric, `study-${number}-${study.kind}-${name}`)]
  })
}

function studyFigure(study: StudyRecord, metric: StudyMetric, id: string): Figure {
  const lines = study.axis.kind === 'share'
  return {
    id,
    title: `${study.title}: ${metric.label}`,
    caption: `${study.method} Bars are 95 % intervals over groups; the dashed line is ${chanceWords(metric, lines)}.`,
    wide: !lines,
    ...(lines ? { legend: predictorLegend(study.predictors) } : {}),
    svg: lines ? sharePlot(study, metric) : studyForest(study, metric),
    data: {
      kind: study.kind,
      axis: study.axis,
      metric,
      predictors: study.predictors,
      points: study.points.map((point) => ({
        x: point.x,
        label: point.label,
        training: point.training,
        test: point.test,
        prevalence: point.prevalence,
        values: point.values.map(({ predictor, metrics }) => ({ predictor, ...metrics[metric.name] })),
      })),
      seedSpread: study.seedSpread.filter((spread) => spread.metric === metric.name),
    },
  }
}

function chanceWords({ chance }: StudyMetric, lines: boolean): string {
  if (chance !== null) return `chance, ${formatValue(chance)}`
  return lines ? 'the prevalence of the test pairs, which chance reaches' : 'the lowest prevalence among the bands'
}

interface Mark {
  readonly x: number
  readonly value: number
  readonly interval: Interval | null
}

function sharePlot(study: StudyRecord, metric: StudyMetric): Html {
  const series = study.predictors.map((predictor, at) => ({
    style: styleOf(predictor, at),
    shift: (at - (study.predictors.length - 1) / 2) * 1.6,
    marks: study.points.flatMap((point): readonly Mark[] => {
      const estimate = estimateOf(point, predictor, metric)
      return point.x === null || estimate === null || estimate.value === null
        ? []
        : [{ x: point.x, value: estimate.value, interval: estimate.interval }]
    }),
  }))
  const chance = metric.chance === null ? prevalenceMarks(study) : null
  return draw(
    `${metric.label} by ${study.axis.label}`,
    {
      x: {
        domain: [0, 1],
        ticks: 5,
        tickFormat: (share: number): string => `${Math.round(100 * share)} %`,
        label: study.axis.label,
        labelAnchor: 'center',
        labelArrow: 'none',
      },
      y: shareAxis(metric.label),
    },
    [
      metric.chance === null
        ? Plot.line(chance ?? [], {
            x: 'x',
            y: 'value',
            stroke: 'currentColor',
            strokeOpacity: 0.5,
            strokeDasharray: '3 3',
          })
        : Plot.ruleY([metric.chance], { stroke: 'currentColor', strokeOpacity: 0.5, strokeDasharray: '3 3' }),
      ...series.flatMap(({ style, marks, shift }) => [
        Plot.ruleX(
          marks.filter((mark) => mark.interval !== null),
          {
            x: 'x',
            y1: (mark: Mark) => mark.interval?.low ?? 0,
            y2: (mark: Mark) => mark.interval?.high ?? 0,
            dx: shift,
            stroke: style.colour,
            strokeOpacity: 0.55,
          },
        ),
        Plot.line(marks, { x: 'x', y: 'value', dx: shift, ...strokeOf(style) }),
        Plot.dot(marks, { x: 'x', y: 'value', dx: shift, r: 2.6, fill: style.colour }),
      ]),
    ],
  )
}

function prevalenceMarks(study: StudyRecord): readonly { readonly x: number; readonly value: number }[] {
  return study.points.flatMap(({ x, prevalence }) =>
    x === null || prevalence === null ? [] : [{ x, value: prevalence }],
  )
}

/** Left-out domains are bands with a row per predictor; seeds are rows in a band per router. */
function studyForest(study: StudyRecord, metric: StudyMetric): Html {
  const byPredictor = study.axis.kind === 'seed'
  const predictors = byPredictor ? study.predictors.filter((one) => one.kind === 'router') : study.predictors
  const rowsOf = (point: StudyPoint, predictor: StudyPredictor) => {
    const estimate = estimateOf(point, predictor, metric)
    if (estimate === null) return []
    const { colour } = styleOf(predictor, study.predictors.indexOf(predictor))
    const [band, name] = byPredictor ? [predictor.name, point.label] : [point.label, predictor.name]
    const symbol = predictor.kind === 'reference' ? ('diamond' as const) : ('circle' as const)
    return [{ band, name, colour, symbol, value: estimate.value, interval: estimate.interval }]
  }
  const rows = byPredictor
    ? predictors.flatMap((predictor) => study.points.flatMap((point) => rowsOf(point, predictor)))
    : study.points.flatMap((point) => predictors.flatMap((predictor) => rowsOf(point, predictor)))
  const prevalences = study.points.map((point) => point.prevalence).filter((value) => value !== null)
  const reference = metric.chance ?? (prevalences.length === 0 ? 0 : Math.min(...prevalences))
  return forestPlot(rows, {
    label: `${metric.label} by ${study.axis.label}`,
    axis: metric.label,
    reference,
    domain: [metric.chance === null ? 0 : 0.4, 1],
  })
}

function estimateOf(point: StudyPoint, predictor: StudyPredictor, metric: StudyMetric) {
  return point.values.find((value) => value.predictor === predictor.name)?.metrics[metric.name] ?? null
}

/** A reference has the hue of its router: the diamond, or the dash of its place, sets it apart. */
function styleOf(predictor: StudyPredictor, at: number): LineStyle {
  const own = lineStyleOf(predictor.name, at)
  if (predictor.kind !== 'reference' || predictor.inputs === null) return own
  return { ...own, colour: lineStyleOf(predictor.inputs, at).colour }
}

function predictorLegend(predictors: readonly StudyPredictor[]): Html {
  return html`<ul class="legend">${predictors.map((predictor, at) => html`<li>${lineSample(styleOf(predictor, at))}${predictor.name}</li>`)}</ul>`
}
