/**
 * Figures of the report as SVG text, drawn at build time: Observable Plot on linkedom, no browser and no script.
 * linkedom's serialiser escapes text, so names from logs stay text.
 */
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { quantile } from '../../src/metrics/bootstrap.ts'
import type { ReliabilityBin } from '../../src/metrics/calibration.ts'
import type { Estimate, SampledPair } from '../evaluation/evaluation-record.ts'
import { type Html, trustedHtml } from './html.ts'
import type { Series } from './series.ts'

const SIZE = { width: 360, height: 300, marginLeft: 46, marginBottom: 40, marginTop: 14, marginRight: 14 }
const STYLE = { fontSize: '12px', background: 'transparent', color: 'currentColor', overflow: 'visible' }
const SHARE = { domain: [0, 1], ticks: 5, tickFormat: (value: number): string => String(value) }
/** `.9`, `1`: one way to write a share on an axis. */
const shareAxis = (label: string): Plot.ScaleOptions => ({ ...SHARE, label, labelAnchor: 'center', labelArrow: 'none' })

export function rocPlot(series: readonly Series[]): Html {
  return draw(
    'ROC curves: true positive rate by false positive rate',
    { x: shareAxis('false positive rate (KEEP called READY)'), y: shareAxis('true positive rate (READY found)') },
    [
      Plot.line(
        [
          [0, 0],
          [1, 1],
        ],
        { stroke: 'currentColor', strokeOpacity: 0.35 },
      ),
      ...series.map((one) =>
        Plot.line(one.predictor.curves.roc, {
          x: 'falsePositiveRate',
          y: 'truePositiveRate',
          ...strokeOf(one),
        }),
      ),
    ],
  )
}

/** @param prevalence precision of chance, drawn as a rule */
export function precisionRecallPlot(series: readonly Series[], prevalence: number | null): Html {
  return draw(
    'Precision by recall',
    { x: shareAxis('recall (READY found)'), y: shareAxis('precision (found ones that are READY)') },
    [
      ...(prevalence === null ? [] : [Plot.ruleY([prevalence], { stroke: 'currentColor', strokeOpacity: 0.35 })]),
      ...series.map((one) =>
        Plot.line(one.predictor.curves.precisionRecall, { x: 'recall', y: 'precision', ...strokeOf(one) }),
      ),
    ],
  )
}

/** Mean score against share of READY per bin; a dot's area grows with the bin's share of the weight. */
export function reliabilityPlot(series: readonly Series[]): Html {
  const binsOf = (one: Series): readonly ReliabilityBin[] =>
    (one.predictor.subsets.headline.calibration?.bins ?? []).filter((bin) => bin.share > 0)
  return draw('Reliability: share of READY by score', { x: shareAxis('mean score'), y: shareAxis('share of READY') }, [
    Plot.line(
      [
        [0, 0],
        [1, 1],
      ],
      { stroke: 'currentColor', strokeOpacity: 0.35 },
    ),
    ...series.flatMap((one) => [
      Plot.line(binsOf(one), { x: 'meanScore', y: 'meanLabel', ...strokeOf(one) }),
      Plot.dot(binsOf(one), {
        x: 'meanScore',
        y: 'meanLabel',
        r: (bin: ReliabilityBin) => 2 + 7 * Math.sqrt(bin.share),
        fill: one.colour,
        fillOpacity: 0.35,
        stroke: one.colour,
      }),
    ]),
  ])
}

/** One dot per sampled pair; the two lines are medians per age, READY solid and KEEP dashed. */
export function scoreByAgePlot(sample: readonly SampledPair[]): Html {
  const marks = ([0, 1] as const).flatMap((label) => {
    const own = sample.filter((pair) => pair.label === label)
    const colour = label === 1 ? 'var(--vermilion)' : 'var(--blue)'
    return [
      Plot.dot(own, {
        x: 'age',
        y: 'score',
        r: 2.2,
        dx: label === 1 ? 3 : -3,
        symbol: label === 1 ? 'circle' : 'times',
        stroke: colour,
        ...(label === 1 ? { fill: colour, fillOpacity: 0.3 } : {}),
        strokeOpacity: 0.55,
      }),
      Plot.line(medianByAge(own), {
        x: 'age',
        y: 'score',
        stroke: colour,
        strokeWidth: 2.6,
        strokeDasharray: label === 1 ? 'none' : '6 3',
      }),
    ]
  })
  return draw(
    'Score by age',
    {
      x: {
        type: 'log',
        label: 'age c - i, in interactions',
        labelAnchor: 'center',
        labelArrow: 'none',
        ticks: 5,
        tickFormat: '~f',
      },
      y: shareAxis('score p'),
    },
    marks,
  )
}

export interface DomainRow {
  readonly domain: string
  readonly name: string
  readonly colour: string
  readonly estimate: Estimate
}

/** Within-trajectory AUROC with its interval, one band per domain. */
export function domainPlot(rows: readonly DomainRow[]): Html {
  const defined = rows.filter((row) => row.estimate.value !== null)
  const domains = new Set(defined.map((row) => row.domain)).size
  const names = [...new Set(defined.map((row) => row.name))]
  const withInterval = defined.filter((row) => row.estimate.interval !== null)
  return draw(
    'Within-trajectory AUROC by domain',
    {
      width: 460,
      height: 50 + domains * (names.length * 17 + 26),
      marginLeft: 142,
      marginTop: 24,
      marginRight: 20,
      x: { ...shareAxis('within-trajectory AUROC'), domain: [0.2, 1], ticks: 8 },
      y: { label: null, domain: names, tickSize: 0 },
      fy: { label: null, axis: null, padding: 0.22 },
    },
    [
      Plot.ruleX([0.5], { stroke: 'currentColor', strokeOpacity: 0.5, strokeDasharray: '3 3' }),
      Plot.text(
        [...new Set(defined.map((row) => row.domain))].map((domain) => ({ domain })),
        { fy: 'domain', text: 'domain', frameAnchor: 'top-left', dy: -15, dx: -138, fontWeight: 600 },
      ),
      Plot.ruleY(withInterval, {
        fy: 'domain',
        y: 'name',
        x1: (row: DomainRow) => Math.max(0.2, row.estimate.interval?.low ?? 0),
        x2: (row: DomainRow) => row.estimate.interval?.high ?? 0,
        stroke: (row: DomainRow) => row.colour,
        strokeWidth: 2,
      }),
      Plot.dot(defined, {
        fy: 'domain',
        y: 'name',
        x: (row: DomainRow) => Math.max(0.2, row.estimate.value ?? 0),
        fill: (row: DomainRow) => row.colour,
        r: 4,
      }),
    ],
  )
}

/** Legend sample of a line. */
export function lineSample(series: Series): Html {
  return trustedHtml(
    `<svg width="36" height="10" aria-hidden="true"><line x1="0" x2="36" y1="5" y2="5" stroke="${series.colour}" ` +
      `stroke-width="${series.width}" stroke-dasharray="${series.dash}"/></svg>`,
  )
}

function strokeOf({ colour, dash, width }: Series): Plot.LineOptions {
  return { stroke: colour, strokeDasharray: dash, strokeWidth: width }
}

/** Medians in bins of ages that grow by half: few points, each with enough pairs. */
function medianByAge(sample: readonly SampledPair[]): readonly { readonly age: number; readonly score: number }[] {
  const bins = new Map<number, SampledPair[]>()
  for (const pair of sample) {
    const bin = Math.floor(Math.log(pair.age) / Math.log(1.5))
    bins.set(bin, [...(bins.get(bin) ?? []), pair])
  }
  const MIN_PAIRS = 5
  return [...bins]
    .filter(([, pairs]) => pairs.length >= MIN_PAIRS)
    .sort(([a], [b]) => a - b)
    .map(([, pairs]) => ({
      age: Math.exp(pairs.reduce((sum, pair) => sum + Math.log(pair.age), 0) / pairs.length),
      score: quantile(
        pairs.map((pair) => pair.score).sort((a, b) => a - b),
        0.5,
      ),
    }))
}

export function draw(label: string, options: Plot.PlotOptions, marks: readonly Plot.Markish[]): Html {
  const { document } = parseHTML('<html></html>')
  const svg = Plot.plot({
    ...SIZE,
    ...options,
    // linkedom's document serves for what Plot uses of the DOM: createElementNS, setAttribute, append.
    document: document as never,
    className: 'plot',
    ariaLabel: label,
    color: { type: 'identity' },
    grid: true,
    style: STYLE,
    marks: [...marks],
  })
  return trustedHtml(roundCoordinates(String(svg.outerHTML)))
}

/** A tenth of a pixel is enough: attribute values alone, text stays as it is. */
function roundCoordinates(svg: string): string {
  return svg.replaceAll(/="[^"<>]*"/g, (attribute) =>
    attribute.replaceAll(/-?\d+\.\d{3,}/g, (number) => Number(number).toFixed(1)),
  )
}
