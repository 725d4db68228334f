/** The record of one bench run as a self-contained page with scaling plots. Pure: no script, nothing is loaded. */
import * as Plot from '@observablehq/plot'
import {
  type Cell,
  type ExtractionBenchRecord,
  keyText,
  type MeasuredArm,
} from '../../models/frozen-lm/bench-record.ts'
import { costAt, fitCost, median, summarise } from '../../models/frozen-lm/bench-statistics.ts'
import { type Html, html, trustedHtml } from '../../training/report/html.ts'
import { renderPage } from '../../training/report/page.ts'
import { draw } from '../../training/report/plots.ts'
import type { BenchSetting } from './bench-card.ts'
import type { BenchFigure } from './bench-figure.ts'
import { EXTRAPOLATED_TOKENS, historyPoints, MOST_EXTRAPOLATION } from './bench-figures.ts'

const SIZE = { width: 620, height: 380, marginLeft: 64, marginRight: 118 }

interface Line {
  readonly name: string
  readonly colour: string
  readonly dash: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
  /** Computed, not measured: drawn without dots. */
  readonly fit: boolean
}

export function benchReport(report: {
  readonly setting: BenchSetting
  readonly record: ExtractionBenchRecord
  readonly figures: readonly BenchFigure[]
}): string {
  const { setting, record, figures } = report
  const plots = benchPlots(record)
  const body = html`
<h1>What reading an agent's history costs</h1>
<p class="sub">${setting.model}, layer ${setting.layer}; ${setting.date}</p>
${setting.quick ? html`<div class="summary"><p>A smoke run: small shapes, nothing is judged.</p></div>` : null}
<h2>Figures</h2>
${figureTable(figures)}
<h2>How cost grows with the history</h2>
${plots.map(({ id, title, svg, caption }) => html`<figure id="${id}" class="wide"><h3>${title}</h3>${trustedHtml(svg)}<figcaption>${caption}</figcaption></figure>`)}
<h2>Arms</h2>
${armTable(record.arms)}
<h2>Where these numbers come from</h2>
<dl><dt>command</dt><dd><code>${setting.command}</code></dd><dt>machine</dt><dd>${setting.machine}</dd>
<dt>versions</dt><dd>${setting.versions}</dd><dt>repeats</dt><dd>${setting.repeats}, arms interleaved, each in a process of its own</dd>
<dt>load before</dt><dd>${setting.loadPerCore.toFixed(2)} runnable processes per core</dd></dl>
<p class="note">All numbers of this page, and every single run, stand in bench.json beside it.</p>`
  return renderPage('keepready bench extract', body)
}

export interface BenchPlot {
  readonly id: string
  readonly title: string
  readonly svg: string
  readonly caption: string
}

/** Plots that the measured arms allow. */
export function benchPlots(record: ExtractionBenchRecord): readonly BenchPlot[] {
  const time = timeLines(record)
  const peak = memoryLines(record)
  const plots: BenchPlot[] = []
  if (time.length > 1)
    plots.push({
      id: 'time',
      title: 'CPU seconds per checkpoint',
      svg: plotOf('CPU seconds per checkpoint by tokens of history', time, 'CPU seconds per checkpoint'),
      caption: `Dots are medians of measured runs, lines without dots are fits (a S + b S^2 for one pass over the history), drawn to ${reachOf(record).toLocaleString('en-US')} tokens. A bounded checkpoint's history is taken as its shared part and its targets. Both axes are logarithmic.`,
    })
  if (peak.length > 1)
    plots.push({
      id: 'memory',
      title: 'Peak memory',
      svg: plotOf('Peak resident memory by tokens of history', peak, 'peak resident MB'),
      caption: 'Weights, keys and values, and workspace of the process that ran the arm.',
    })
  return plots
}

/** The report's hues for a plot that stands alone, on white and on dark. */
const COLOURS =
  'svg { color: #1b1f24; background: #ffffff; --vermilion: #c44e00; --blue: #0067a8; --green: #00805c; --purple: #a2497f; --grey: #5f6b76; } ' +
  '@media (prefers-color-scheme: dark) { svg { color: #e7ebef; background: #14171b; --vermilion: #ff9357; --blue: #62b6f2; --green: #3fcfa4; --purple: #e08fc0; --grey: #9aa6b2; } }'

/** @param svg as benchPlots gives it: its colours are variables of the page */
export function standaloneSvg(svg: string): string {
  const opening = /^<svg(?![^>]*xmlns=)/
  const named = svg.replace(opening, '<svg xmlns="http://www.w3.org/2000/svg"')
  // What the plot takes over from a page stands in its style attribute, where it would win over the rules.
  const free = named.replace('background:transparent;color:currentColor;', '')
  return `${free.replace(/^(<svg[^>]*>)/, `$1<style>${COLOURS}</style>`)}\n`
}

function timeLines(record: ExtractionBenchRecord): readonly Line[] {
  const seconds = (arm: MeasuredArm): number => median(arm.costs.map((cost) => cost.cpuMs)) / 1000
  const full = historyPoints(record)
  const fit = fitCost(full)
  const cells = (kind: 'shared-first' | 'once' | 'naive'): readonly { x: number; y: number }[] =>
    record.arms
      .flatMap((arm) => (arm.key.kind === kind ? [{ x: historyOf(arm.key.cell), y: seconds(arm) }] : []))
      .sort((a, b) => a.x - b.x)
  const reach = reachOf(record)
  const fitLengths = fit === null ? [] : logSteps(Math.min(...full.map((point) => point.tokens)), reach)
  const once = cells('once')
  const onceEnd = once.at(-1)
  return [
    line(
      'full context',
      'var(--vermilion)',
      'none',
      full.map(({ tokens, cost }) => ({ x: tokens, y: cost / 1000 })),
    ),
    {
      ...line(
        'full context, fit',
        'var(--vermilion)',
        '4 3',
        fitLengths.map((x) => ({ x, y: costAt(fit ?? { linear: 0, quadratic: 0 }, x) / 1000 })),
      ),
      fit: true,
    },
    line('naive views', 'var(--grey)', '6 3', cells('naive')),
    line('shared-first', 'var(--blue)', '8 3', cells('shared-first')),
    line('once', 'var(--green)', '3 3', once),
    {
      ...line(
        'once, any history',
        'var(--green)',
        '1 4',
        onceEnd === undefined ? [] : [onceEnd, { x: Math.max(reach, onceEnd.x), y: onceEnd.y }],
      ),
      fit: true,
    },
  ].filter(({ points }) => points.length > 0)
}

/** How far the curves are drawn beyond what was measured. */
function reachOf(record: ExtractionBenchRecord): number {
  const longest = Math.max(...historyPoints(record).map((point) => point.tokens), 0)
  return Math.max(longest, Math.min(EXTRAPOLATED_TOKENS, MOST_EXTRAPOLATION * longest))
}

function memoryLines(record: ExtractionBenchRecord): readonly Line[] {
  const points = (kind: MeasuredArm['key']['kind']): readonly { x: number; y: number }[] =>
    record.arms
      .flatMap((arm) => {
        if (arm.key.kind !== kind || arm.memory === null) return []
        const x = arm.key.kind === 'full-context' ? arm.key.historyTokens : historyOf(arm.key.cell)
        return [{ x, y: arm.memory.peakBytes / 1e6 }]
      })
      .sort((a, b) => a.x - b.x)
  return [
    line('full context', 'var(--vermilion)', 'none', points('full-context')),
    line('shared-first', 'var(--blue)', '8 3', points('shared-first')),
    line('once', 'var(--green)', '3 3', points('once')),
    line('one view', 'var(--purple)', 'none', points('view')),
  ].filter((one) => one.points.length > 0)
}

function line(name: string, colour: string, dash: string, points: Line['points']): Line {
  return { name, colour, dash, points, fit: false }
}

function historyOf(cell: Cell): number {
  return cell.sharedTokens + cell.targetCount * cell.targetTokens
}

function plotOf(label: string, lines: readonly Line[], yLabel: string): string {
  const axis = { type: 'log', labelAnchor: 'center', labelArrow: 'none', ticks: 6, tickFormat: '~s' } as const
  const marks = lines.flatMap(({ name, colour, dash, points, fit }) => {
    const stroke = { stroke: colour, strokeDasharray: dash, strokeWidth: fit ? 1.4 : 2.2 }
    const last = points.at(-1)
    const named = last === undefined || fit ? [] : [{ ...last, name }]
    return [
      Plot.line(points, { x: 'x', y: 'y', ...stroke }),
      ...(fit ? [] : [Plot.dot(points, { x: 'x', y: 'y', r: 3, fill: colour })]),
      Plot.text(named, { x: 'x', y: 'y', text: 'name', dx: 7, textAnchor: 'start', fill: colour }),
    ]
  })
  const options = {
    ...SIZE,
    x: { ...axis, label: 'tokens of history' },
    y: { ...axis, tickFormat: '~g', label: yLabel },
  }
  return draw(label, options, marks).text
}

/** Lengths at equal steps of their logarithm. */
function logSteps(from: number, to: number): readonly number[] {
  const STEPS = 40
  return Array.from({ length: STEPS + 1 }, (_, i) => from * (to / from) ** (i / STEPS))
}

function figureTable(figures: readonly BenchFigure[]): Html {
  return html`<div class="scroll"><table><thead><tr><th>row</th><th>figure</th><th class="number">value</th><th>goal</th><th>ok</th><th>note</th></tr></thead>
<tbody>${figures.map(
    ({ row, name, value, goal, bound, ok, note }) =>
      html`<tr><td>${row}</td><th>${name}</th><td class="number">${value === null ? '-' : String(value)}</td><td>${goal === null ? '' : `${bound} ${goal}`}</td><td class="${ok === false ? 'is-worse' : 'beats'}">${ok === null ? '' : ok ? 'yes' : 'no'}</td><td>${note ?? ''}</td></tr>`,
  )}</tbody></table></div>`
}

function armTable(arms: readonly MeasuredArm[]): Html {
  const mb = (bytes: number | undefined): string => (bytes === undefined ? '-' : (bytes / 1e6).toFixed(0))
  return html`<div class="scroll"><table><thead><tr><th>arm</th><th class="number">tokens</th><th class="number">runs</th><th class="number">wall ms</th><th class="number">min-max</th><th class="number">CPU ms</th><th class="number">peak MB</th><th class="number">KV MB</th><th class="number">workspace MB</th></tr></thead>
<tbody>${arms.map((arm) => {
    const wall = summarise(arm.costs.map((cost) => cost.wallMs))
    const cpu = median(arm.costs.map((cost) => cost.cpuMs))
    return html`<tr><th>${keyText(arm.key)}${arm.ranTokens < arm.tokens ? ' (scaled)' : ''}</th><td class="number">${arm.tokens.toLocaleString('en-US')}</td><td class="number">${wall.count}</td><td class="number">${wall.median.toFixed(0)}</td><td class="number">${wall.min.toFixed(0)}-${wall.max.toFixed(0)}</td><td class="number">${cpu.toFixed(0)}</td><td class="number">${mb(arm.memory?.peakBytes)}</td><td class="number">${mb(arm.memory?.stateBytes)}</td><td class="number">${mb(arm.memory?.workspaceBytes)}</td></tr>`
  })}</tbody></table></div>`
}
