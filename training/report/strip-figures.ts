/**
 * Trajectory strips: what the router says of each interaction (row) at each checkpoint (column) of one held-out run, with
 * the boundaries of its labels. Pure.
 */
import * as Plot from '@observablehq/plot'
import { formatValue } from '../evaluation/format-estimate.ts'
import type { StripRecord } from '../evaluation/router-study-record.ts'
import type { Figure } from './figure.ts'
import { type Html, html, trustedHtml } from './html.ts'
import { draw } from './plots.ts'

/** p is drawn in tenths: neighbours of one shade become one rectangle, so that long runs stay small. */
const SHADES = 10
const MARGIN = { left: 46, right: 10, top: 12, bottom: 40 }
const WIDTH = 360
/** Of the heat map, in pixels: rows of a short run stay low, rows of a long run stay visible. */
const HEIGHT = { row: 16, least: 90, most: 300 }

export function stripFigures(strips: readonly StripRecord[]): readonly Figure[] {
  const seen = { best: 0, worst: 0 }
  return strips.map((strip) => {
    seen[strip.rank] += 1
    return stripFigure(strip, seen[strip.rank])
  })
}

function stripFigure(strip: StripRecord, number: number): Figure {
  const { rank, run, domain, rotation, length, pairs, withinAuroc, tau, thinned } = strip
  const threshold =
    tau === null
      ? 'At its default point no threshold was good enough: it never calls READY.'
      : `At its default point it calls READY from ${formatValue(tau)}.`
  return {
    id: `strip-${rank}-${number}`,
    title: `${rank === 'best' ? 'Best' : 'Worst'} run ${number}: AUROC ${formatValue(withinAuroc)}`,
    caption: `${run} (${domain}), rotation ${rotation}, ${length} interactions, ${pairs.toLocaleString('en-US')} pairs${thinned ? ', thinned evenly' : ''}. ${threshold}`,
    legend: stripLegend(tau),
    svg: stripPlot(strip),
    data: strip,
  }
}

export function stripLegend(tau: number | null): Html {
  const step = 11
  const bar = Array.from(
    { length: SHADES },
    (_, shade) =>
      `<rect x="${shade * step}" width="${step}" height="12" fill="var(--blue)" fill-opacity="${opacityOf(shade)}"/>`,
  ).join('')
  const at = tau === null ? '' : tick(tau * SHADES * step, 0, 12)
  const boundary = tick(5, 0, 12)
  return html`<ul class="legend"><li>p: 0 ${trustedHtml(`<svg width="${SHADES * step}" height="12" aria-hidden="true">${bar}${at}</svg>`)} 1</li><li>${trustedHtml(`<svg width="44" height="12" aria-hidden="true">${boundary}<line x1="5" x2="44" y1="6" y2="6" stroke="var(--ink)" stroke-width="1.5"/></svg>`)} boundary; READY from there on</li></ul>`
}

/** A short vertical line that stands out on every shade. */
function tick(x: number, y1: number, y2: number): string {
  const at = `x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${y1}" y2="${y2}"`
  return `<line ${at} stroke="var(--page)" stroke-width="5"/><line ${at} stroke="var(--ink)" stroke-width="2.4"/>`
}

function opacityOf(shade: number): number {
  return Number(((shade + 0.35) / SHADES).toFixed(2))
}

interface Cells {
  readonly row: number
  readonly start: number
  readonly end: number
  readonly shade: number
}

function stripPlot(strip: StripRecord): Html {
  const { interactions, checkpoints } = strip
  const rows = interactions.length
  const columns = checkpoints.length
  const cells = cellsOf(strip)
  const boundaries = boundariesOf(strip)
  const rowHeight = Math.max(HEIGHT.least, Math.min(HEIGHT.most, rows * HEIGHT.row)) / Math.max(1, rows)
  const tickWidth = Math.max(1.2, Math.min(2.6, rowHeight / 3))
  const rowSpan = { y1: (one: { row: number }) => one.row, y2: (one: { row: number }) => one.row + 1 }
  return draw(
    `Heat map of p by interaction and checkpoint of one ${strip.rank} run`,
    {
      width: WIDTH,
      height: Math.round(rows * rowHeight) + MARGIN.top + MARGIN.bottom,
      marginLeft: MARGIN.left,
      marginRight: MARGIN.right,
      marginTop: MARGIN.top,
      marginBottom: MARGIN.bottom,
      grid: false,
      x: indexAxis(checkpoints, columns, 'checkpoint c'),
      y: { ...indexAxis(interactions, rows, 'interaction i'), reverse: true, labelAnchor: 'center' },
      opacity: { type: 'identity' },
    },
    [
      Plot.rect(cells, {
        x1: 'start',
        x2: 'end',
        ...rowSpan,
        fill: 'var(--blue)',
        fillOpacity: (cell: Cells) => opacityOf(cell.shade),
        insetTop: rowHeight > 6 ? 0.5 : 0,
        insetBottom: rowHeight > 6 ? 0.5 : 0,
      }),
      Plot.ruleY(boundaries, {
        x1: 'start',
        x2: 'end',
        y: (one: { row: number }) => one.row + 0.5,
        stroke: 'var(--ink)',
        strokeWidth: Math.max(0.5, Math.min(1.5, rowHeight / 6)),
      }),
      Plot.ruleX(boundaries, { x: 'start', ...rowSpan, stroke: 'var(--page)', strokeWidth: tickWidth * 2 }),
      Plot.ruleX(boundaries, { x: 'start', ...rowSpan, stroke: 'var(--ink)', strokeWidth: tickWidth }),
    ],
  )
}

/** Neighbouring checkpoints of one shade as one rectangle. */
function cellsOf({ p }: StripRecord): readonly Cells[] {
  return p.flatMap((values, row) => {
    const cells: Cells[] = []
    values.forEach((value, column) => {
      if (value === null) return
      const shade = Math.min(SHADES - 1, Math.max(0, Math.floor(value * SHADES)))
      const last = cells.at(-1)
      if (last !== undefined && last.end === column && last.shade === shade)
        cells[cells.length - 1] = { ...last, end: column + 1 }
      else cells.push({ row, start: column, end: column + 1, shade })
    })
    return cells
  })
}

/** From the first column at or after the boundary to the last column that has a pair. */
function boundariesOf({
  boundaries,
  checkpoints,
  p,
}: StripRecord): readonly { readonly row: number; readonly start: number; readonly end: number }[] {
  return boundaries.flatMap((boundary, row) => {
    if (boundary === null) return []
    const start = checkpoints.findIndex((checkpoint) => checkpoint >= boundary)
    const end = (p[row]?.findLastIndex((value) => value !== null) ?? -1) + 1
    return start === -1 || end <= start ? [] : [{ row, start, end }]
  })
}

/** Positions are columns or rows; the ticks in their middles say which checkpoint or interaction that is. */
function indexAxis(values: readonly number[], count: number, label: string): Plot.ScaleOptions {
  const step = Math.max(1, Math.ceil(count / 6))
  const ticks = values.flatMap((_, at) => (at % step === 0 ? [at + 0.5] : []))
  return {
    type: 'linear',
    domain: [0, Math.max(1, count)],
    ticks,
    tickFormat: (at: number): string => String(values[Math.floor(at)] ?? ''),
    label,
    labelAnchor: 'center',
    labelArrow: 'none',
  }
}
