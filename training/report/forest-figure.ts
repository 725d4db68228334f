/**
 * Forest plot: estimates with their intervals, one row each, in titled bands. Pure.
 */
import * as Plot from '@observablehq/plot'
import type { Interval } from '../../src/metrics/bootstrap.ts'
import type { Html } from './html.ts'
import { draw } from './plots.ts'

export interface ForestRow {
  /** The band it stands in, e.g. a domain. */
  readonly band: string
  readonly name: string
  readonly colour: string
  /** So that no two rows of a band differ by colour alone. */
  readonly symbol?: Plot.SymbolType
  readonly value: number | null
  readonly interval: Interval | null
}

export interface ForestOptions {
  readonly label: string
  readonly axis: string
  /** Drawn as a dashed rule: chance, or no difference. */
  readonly reference: number
  /** The axis shows at least these; values beyond widen it. */
  readonly domain: readonly [number, number]
}

const ROW_HEIGHT = 18
const BAND_SPACE = 26
/** Names longer than this push the plot off a phone. */
const MOST_NAME = 24
const CHARACTER = 6.4

/** Rows without a value are left out; a row without an interval is a dot. */
export function forestPlot(rows: readonly ForestRow[], options: ForestOptions): Html {
  const shown = rows.filter((row) => row.value !== null)
  const bands = [...new Set(shown.map((row) => row.band))]
  const names = [...new Set(shown.map((row) => row.name))]
  const withInterval = shown.filter((row) => row.interval !== null)
  const values = shown.flatMap(({ value, interval }) => [value ?? options.reference, interval?.low, interval?.high])
  const seen = values.filter((value) => value !== undefined)
  const low = Math.min(options.domain[0], ...seen)
  const high = Math.max(options.domain[1], ...seen)
  const longest = Math.max(8, ...names.map((name) => Math.min(MOST_NAME, name.length)))
  const marginLeft = Math.round(longest * CHARACTER) + 8
  return draw(
    options.label,
    {
      width: 460,
      height: 58 + bands.length * (names.length * ROW_HEIGHT + BAND_SPACE),
      marginLeft,
      marginTop: 24,
      marginRight: 20,
      x: {
        domain: [low, high],
        ticks: 6,
        tickFormat: (value: number): string => String(Number(value.toFixed(3))),
        label: options.axis,
        labelAnchor: 'center',
        labelArrow: 'none',
      },
      y: { label: null, domain: names, tickSize: 0, tickFormat: shortened },
      fy: {
        label: null,
        axis: null,
        // Room for a band's title above its rows, however few they are.
        padding: BAND_SPACE / (names.length * ROW_HEIGHT + BAND_SPACE),
        domain: bands,
      },
    },
    [
      Plot.ruleX([options.reference], { stroke: 'currentColor', strokeOpacity: 0.5, strokeDasharray: '3 3' }),
      Plot.text(
        bands.map((band) => ({ band })),
        { fy: 'band', text: 'band', frameAnchor: 'top-left', dy: -15, dx: 4 - marginLeft, fontWeight: 600 },
      ),
      Plot.ruleY(withInterval, {
        fy: 'band',
        y: 'name',
        x1: (row: ForestRow) => row.interval?.low ?? 0,
        x2: (row: ForestRow) => row.interval?.high ?? 0,
        stroke: (row: ForestRow) => row.colour,
        strokeWidth: 2,
      }),
      Plot.dot(shown, {
        fy: 'band',
        y: 'name',
        x: (row: ForestRow) => row.value ?? 0,
        fill: (row: ForestRow) => row.colour,
        symbol: (row: ForestRow) => row.symbol ?? 'circle',
        r: 4,
      }),
    ],
  )
}

function shortened(name: string): string {
  return name.length <= MOST_NAME ? name : `${name.slice(0, MOST_NAME - 1)}…`
}
