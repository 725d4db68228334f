/**
 * What a router's thresholds do: how sensitive each policy is, how late it calls READY, how far decisions are from the
 * other side. Pure.
 */
import * as Plot from '@observablehq/plot'
import { POLICY_NAMES } from '../../src/router/threshold-policies.ts'
import { HISTOGRAM_REACH } from '../evaluation/delay-study.ts'
import { formatPercent } from '../evaluation/format-estimate.ts'
import type { MarginRecord, OperatingPointDelays, PolicyRecord } from '../evaluation/router-study-record.ts'
import type { Figure } from './figure.ts'
import { html } from './html.ts'
import { draw, lineSample, shareAxis, strokeOf } from './plots.ts'
import type { LineStyle } from './series.ts'

const RATES = [
  { name: 'precision', style: { colour: 'var(--blue)', dash: 'none', width: 2.2 } },
  { name: 'recall', style: { colour: 'var(--green)', dash: '8 3', width: 2.2 } },
  { name: 'falsePositiveRate', style: { colour: 'var(--vermilion)', dash: '2 3', width: 2.2 } },
] as const
const RATE_WORDS = { precision: 'precision', recall: 'recall', falsePositiveRate: 'false positive rate' } as const

/** One band per policy, at its middle parameter: what happens to its rates when its threshold moves. Null where none has a threshold. */
export function sensitivityFigure(router: string, policies: readonly PolicyRecord[]): Figure | null {
  const shown = POLICY_NAMES.flatMap((name) => {
    const own = policies.filter(
      ({ policy, taus, sensitivity }) => policy === name && taus.some((tau) => tau !== null) && sensitivity.length > 1,
    )
    return own.slice(Math.floor(own.length / 2), Math.floor(own.length / 2) + 1)
  })
  if (shown.length === 0) return null
  const points = shown.flatMap(({ label, sensitivity }) =>
    sensitivity.flatMap(({ shift, rates }) =>
      RATES.flatMap(({ name }) => {
        const value = rates[name]
        return value === null ? [] : [{ policy: label, shift, rate: name, value }]
      }),
    ),
  )
  const bandHeight = 130
  return {
    id: `sensitivity-${router}`,
    title: `How much a threshold may be off: ${router}`,
    caption:
      'Every rotation moves its own threshold by the same number of logits; 0 is the threshold as chosen on validation. Means over rotations on test pairs. Where lines are steep, the choice is fragile. Each policy at its middle parameter; the others stand in the data.',
    wide: true,
    legend: html`<ul class="legend">${RATES.map(({ name, style }) => html`<li>${lineSample(style)}${RATE_WORDS[name]}</li>`)}</ul>`,
    svg: draw(
      `Precision, recall and false positive rate by shift of the threshold, ${router}`,
      {
        width: 460,
        height: 50 + shown.length * bandHeight,
        marginTop: 24,
        x: { label: 'shift of the threshold, in logits', labelAnchor: 'center', labelArrow: 'none', ticks: 7 },
        y: { ...shareAxis(''), label: null, ticks: 3 },
        fy: { label: null, axis: null, padding: 0.3, domain: shown.map((policy) => policy.label) },
      },
      [
        Plot.ruleX([0], { stroke: 'currentColor', strokeOpacity: 0.5, strokeDasharray: '3 3' }),
        Plot.text(shown, { fy: 'label', text: 'label', frameAnchor: 'top-left', dy: -16, dx: -40, fontWeight: 600 }),
        ...RATES.map(({ name, style }) =>
          Plot.line(
            points.filter((point) => point.rate === name),
            { fy: 'policy', x: 'shift', y: 'value', ...strokeOf(style) },
          ),
        ),
      ],
    ),
    data: { router, policies },
  }
}

/** First calls minus boundaries at one operating point; null where READY is never called. */
export function delayFigure(router: string, delays: OperatingPointDelays): Figure | null {
  const bars = delays.histogram.filter((bar) => bar.interactions > 0)
  if (bars.length === 0) return null
  const { histogram, becomeReady, caught, called, premature, prematureWithoutBoundary } = delays
  const words = (delay: number): string =>
    delay === -HISTOGRAM_REACH ? `≤${delay}` : delay === HISTOGRAM_REACH ? `≥${delay}` : String(delay)
  const ticks = histogram.map((bar) => bar.delay).filter((delay) => delay % 5 === 0)
  return {
    id: `delay-${router}-${delays.operatingPoint}`,
    title: `When it calls READY: ${router}, ${delays.operatingPoint}`,
    caption: `Interactions by first call minus boundary, in checkpoints: left of 0 (orange) it called too early and lost information, right of 0 it waited. ${caught} of ${becomeReady} interactions that become READY are ever called so; ${premature} of ${called} calls are premature (${formatPercent(called === 0 ? null : premature / called)}), ${prematureWithoutBoundary} of them on interactions that never become READY and are not drawn.`,
    svg: draw(
      `Interactions by first READY call minus boundary, ${router}`,
      {
        marginLeft: 52,
        x: {
          type: 'band',
          domain: histogram.map((bar) => bar.delay),
          ticks,
          tickFormat: words,
          tickSize: 3,
          label: 'first call minus boundary, in checkpoints',
          labelAnchor: 'center',
          labelArrow: 'none',
        },
        y: { label: 'interactions', labelAnchor: 'center', labelArrow: 'none', ticks: 5, tickFormat: '~s' },
      },
      [
        Plot.barY(histogram, {
          x: 'delay',
          y: 'interactions',
          fill: (bar: { delay: number }) => (bar.delay < 0 ? 'var(--vermilion)' : 'var(--blue)'),
          fillOpacity: 0.85,
        }),
        Plot.ruleY([0], { stroke: 'currentColor' }),
      ],
    ),
    data: { router, ...delays },
  }
}

const KEPT = [
  { name: 'all', style: { colour: 'var(--grey)', dash: 'none', width: 2.2 } },
  { name: 'ready', style: { colour: 'var(--vermilion)', dash: '8 3', width: 2.2 } },
  { name: 'keep', style: { colour: 'var(--blue)', dash: '2 3', width: 2.2 } },
] as const satisfies readonly { readonly name: 'all' | 'ready' | 'keep'; readonly style: LineStyle }[]
const KEPT_WORDS = { all: 'all decisions', ready: 'READY decisions', keep: 'KEEP decisions' } as const

/** Share of decisions that no perturbation of a given size can turn, and what measured perturbations did turn. */
export function marginFigure(router: string, margins: MarginRecord): Figure {
  const measured = margins.measured.flatMap(({ name, kept, shiftQuantiles }) => {
    const middle = shiftQuantiles.find((quantile) => quantile.level === 0.5)
    return middle === undefined || kept === null ? [] : [{ name, shift: middle.shift, kept }]
  })
  return {
    id: `margin-${router}`,
    title: `How far decisions are from the other side: ${router}`,
    caption: `Share of the ${margins.pairs.toLocaleString('en-US')} held-out decisions at ${margins.operatingPoint} whose logit is further from its threshold than the perturbation: none of that size can turn them.${measured.length > 0 ? ' Diamonds: perturbations that were measured, at their median size, with the share of decisions they left as they were.' : ''}`,
    legend: html`<ul class="legend">${KEPT.map(({ name, style }) => html`<li>${lineSample(style)}${KEPT_WORDS[name]}</li>`)}</ul>`,
    svg: draw(
      `Share of decisions kept by size of a perturbation, ${router}`,
      {
        x: { label: 'perturbation of the logit', labelAnchor: 'center', labelArrow: 'none', ticks: 6, zero: true },
        y: shareAxis('share of decisions kept'),
      },
      [
        ...KEPT.map(({ name, style }) =>
          Plot.line(
            margins.kept.filter((one) => one[name] !== null),
            { x: 'perturbation', y: name, ...strokeOf(style) },
          ),
        ),
        Plot.dot(measured, { x: 'shift', y: 'kept', symbol: 'diamond', r: 5, fill: 'var(--ink)' }),
        Plot.text(measured, { x: 'shift', y: 'kept', text: 'name', dx: 9, textAnchor: 'start', fill: 'var(--ink)' }),
      ],
    ),
    data: { router, ...margins },
  }
}
