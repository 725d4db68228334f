/**
 * A figure of a page: its drawing, its words, and its data, which stands as JSON in a file beside the page. Pure.
 */
import { type Html, html, trustedHtml } from './html.ts'

export interface Figure {
  /** Names the element and the file `figures/<id>.json`: letters, digits, `-`, `+`; never text from a log. */
  readonly id: string
  readonly title: string
  readonly caption: string
  readonly svg: Html
  /** What the marks mean, between title and drawing. */
  readonly legend?: Html
  /** Plain JSON: every number that is drawn, unrounded. */
  readonly data: unknown
  readonly wide?: boolean
}

export interface FigureFile {
  /** Relative to the page. */
  readonly path: string
  readonly text: string
}

export function figureHtml({ id, title, caption, svg, legend, wide }: Figure): Html {
  return html`<figure id="${id}" class="${wide === true ? 'wide' : ''}"><h3>${title}</h3>${legend ?? null}${named(svg)}<figcaption>${caption} <a class="data" href="${pathOf(id)}">data</a></figcaption></figure>`
}

/** Wide ones below the others, one under another. */
export function figuresHtml(figures: readonly Figure[]): Html {
  const beside = figures.filter((figure) => figure.wide !== true)
  const below = figures.filter((figure) => figure.wide === true)
  return html`${beside.length === 0 ? null : html`<div class="figures">${beside.map((figure) => html`${figureHtml(figure)}\n`)}</div>`}${below.map(figureHtml)}`
}

export function figureFile({ id, title, caption, data }: Figure): FigureFile {
  return { path: pathOf(id), text: `${JSON.stringify({ id, title, caption, data })}\n` }
}

/** Every figure's data file, so that none has to be searched for. */
export function figureIndex(figures: readonly Figure[]): Html {
  return html`<h3 id="figure-data">Data of the figures</h3>
<ul class="note">${figures.map(({ id, title }) => html`<li><a href="${pathOf(id)}">${pathOf(id)}</a>: ${title}</li>`)}</ul>`
}

function pathOf(id: string): string {
  return `figures/${id}.json`
}

/** The drawing's label is read as the name of one image, not as loose shapes. */
function named(svg: Html): Html {
  return trustedHtml(svg.text.replace('<svg ', '<svg role="img" '))
}
