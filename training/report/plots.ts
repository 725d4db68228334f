/**
 * The frame of every figure, as SVG text drawn at build time: Observable Plot on linkedom, no browser and no script.
 * linkedom's serialiser escapes text, so names from logs stay text.
 */
import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { type Html, trustedHtml } from './html.ts'
import type { LineStyle } from './series.ts'

const SIZE = { width: 360, height: 300, marginLeft: 46, marginBottom: 40, marginTop: 14, marginRight: 14 }
const STYLE = { fontSize: '12px', background: 'transparent', color: 'currentColor', overflow: 'visible' }
const SHARE = { domain: [0, 1], ticks: 5, tickFormat: (value: number): string => String(value) }
/** `.9`, `1`: one way to write a share on an axis. */
export const shareAxis = (label: string): Plot.ScaleOptions => ({
  ...SHARE,
  label,
  labelAnchor: 'center',
  labelArrow: 'none',
})

/** Chance, or perfect agreement. */
export function diagonal(): Plot.Markish {
  return Plot.line(
    [
      [0, 0],
      [1, 1],
    ],
    { stroke: 'currentColor', strokeOpacity: 0.35 },
  )
}

/** Legend sample of a line. */
export function lineSample(series: LineStyle): Html {
  return trustedHtml(
    `<svg width="36" height="10" aria-hidden="true"><line x1="0" x2="36" y1="5" y2="5" stroke="${series.colour}" ` +
      `stroke-width="${series.width}" stroke-dasharray="${series.dash}"/></svg>`,
  )
}

export function strokeOf({ colour, dash, width }: LineStyle): Plot.LineOptions {
  return { stroke: colour, strokeDasharray: dash, strokeWidth: width }
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
