import { parseHTML } from 'linkedom'
import { describe, expect, it } from 'vitest'
import { evaluate } from '../../../../training/evaluate.ts'
import { CONTENT_SECURITY_POLICY } from '../../../../training/report/page.ts'
import { renderReport } from '../../../../training/report/render-report.ts'
import { STUDIES } from '../../../fixtures/study-records.ts'
import { syntheticDataset, syntheticTrajectories } from '../../../fixtures/synthetic-dataset.ts'
import { syntheticPredictions } from '../../../fixtures/synthetic-predictions.ts'

const HOSTILE = '<script>alert("1")</script>'
const dataset = syntheticDataset({
  groups: 36,
  minLength: 8,
  maxLength: 18,
  domains: ['tau-bench', HOSTILE, '"><img src=x onerror=alert(2)>'],
})
const record = await evaluate({
  dataset,
  trajectories: syntheticTrajectories(dataset),
  ...syntheticPredictions(dataset),
  router: { directory: `router ${HOSTILE}`, served: 'evidence' },
  seed: 4,
  resamples: 100,
})
const report = renderReport(record, STUDIES)
const { page } = report
const { document } = parseHTML(page)
const fileNames = report.figures.map((figure) => figure.path)
const styleSheets = (): readonly string[] =>
  [...document.querySelectorAll('style')].map((element) => element.textContent ?? '')

describe('report', () => {
  it('escapes text that came from logs, in prose, tables and figures alike', () => {
    expect(/<(script|img)/i.exec(page)).toBeNull()
    expect(page.includes('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;')).toBe(true)
    expect(document.querySelectorAll('script, img, iframe, object, embed, link, base, form')).toHaveLength(0)
    const handlers = [...document.querySelectorAll('*')].flatMap((element) =>
      [...element.attributes].filter((attribute) => attribute.name.toLowerCase().startsWith('on')),
    )
    expect(handlers).toEqual([])
    expect(document.querySelector('#domains-plot svg')?.textContent).toContain(HOSTILE)
  })

  it('carries a policy that allows inline styles and nothing else, before anything it governs', () => {
    const policy = document.querySelector('meta[http-equiv="Content-Security-Policy"]')
    expect(policy?.getAttribute('content')).toBe(CONTENT_SECURITY_POLICY)
    expect(CONTENT_SECURITY_POLICY).toBe("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    expect(page.indexOf('Content-Security-Policy')).toBeLessThan(page.indexOf('<style>'))
  })

  it('loads nothing from anywhere; it links to its data only', () => {
    const elements = [...document.querySelectorAll('*')]
    const loading = elements
      .filter((element) => element.tagName.toLowerCase() !== 'a')
      .flatMap((element) =>
        ['src', 'srcset', 'href', 'xlink:href', 'data', 'poster', 'background'].filter((name) =>
          element.hasAttribute(name),
        ),
      )
    expect(loading).toEqual([])
    const links = new Set([...document.querySelectorAll('a')].map((link) => link.getAttribute('href')))
    expect([...links].sort()).toEqual([...fileNames, 'metrics.json'].sort())
    const styles = [...elements.map((element) => element.getAttribute('style') ?? ''), ...styleSheets()]
    expect(styles.filter((style) => /url\(|@import|expression/i.test(style))).toEqual([])
  })

  it.each([
    'roc',
    'precision-recall',
    'precision-coverage',
    'reliability',
    'reliability-temperature',
    'reliability-isotonic',
    'score-by-age-hidden',
    'score-by-age-hidden+evidence',
    'score-by-age-evidence',
    'domains-plot',
    'study-1-fraction-withinAuroc',
    'study-2-domain-withinAuroc',
    'study-3-seeds-averagePrecision',
    'strip-best-1',
    'strip-worst-1',
    'sensitivity-evidence',
    'delay-evidence-f1',
    'margin-evidence',
  ])('draws the figure %s with marks in it', (id) => {
    const figure = document.getElementById(id)
    expect(figure?.querySelector('figcaption')?.textContent).not.toBe('')
    const svg = figure?.querySelector('svg.plot')
    expect(svg?.getAttribute('role')).toBe('img')
    expect(svg?.getAttribute('aria-label')).toMatch(/\w+ by \w+|first READY call/)
    const marks = [
      ...(svg?.querySelectorAll(
        '[aria-label="line"] path, [aria-label="dot"] *, [aria-label="rect"] *, [aria-label="bar"] *',
      ) ?? []),
    ]
    expect(marks.length).toBeGreaterThan(2)
    expect(/NaN|undefined|Infinity/.exec(svg?.outerHTML ?? '')).toBeNull()
  })

  it('gives every figure its data as JSON, and lists the files', () => {
    const ids = [...document.querySelectorAll('figure')].map((figure) => figure.id)
    expect([...fileNames].sort()).toEqual(ids.map((id) => `figures/${id}.json`).sort())
    expect(new Set(ids).size).toBe(ids.length)
    const listed = [...document.querySelectorAll('#figure-data + ul a')].map((link) => link.textContent)
    expect(listed).toEqual(fileNames)
    for (const { text } of report.figures) expect(/NaN|Infinity/.exec(text)).toBeNull()
    const roc: unknown = JSON.parse(report.figures[0]?.text ?? '')
    const curves = record.predictors.find((one) => one.name === 'evidence')?.curves.roc
    expect(roc).toMatchObject({
      id: 'roc',
      data: { series: [{ name: 'evidence', points: curves }, {}, {}, {}, {}, {}] },
    })
  })

  it('shows what a study says in its own words, its differences and the spread of its seeds', () => {
    const section = (number: number): string => {
      const heading = document.getElementById(`study-${number}`)
      const texts: string[] = []
      for (let next = heading?.nextElementSibling; next && next.tagName !== 'H2'; next = next.nextElementSibling)
        texts.push(next.textContent ?? '')
      return texts.join(' ')
    }
    expect(section(1)).toContain('What fraction changes.')
    expect(section(2)).toMatch(
      /evidence at point 0\s*worse than\s*evidence, domain seen at point 0.*-\.046 \[-\.100 -\.010\]/,
    )
    expect(section(3)).toMatch(/\.012\s*\.690\s*\.710/)
  })

  it('names figures by what they show and never by text of a log', () => {
    for (const name of fileNames) expect(name).toMatch(/^figures\/[A-Za-z0-9+-]+\.json$/)
  })

  it('draws a strip as wide as its checkpoints, with a tick per boundary that is in sight', () => {
    const strip = record.strips[0]
    const inSight = strip?.boundaries.filter(
      (boundary) => boundary !== null && boundary <= Math.max(...strip.checkpoints),
    )
    const ticks = document.querySelectorAll('#strip-best-1 svg.plot [stroke="var(--page)"] line')
    expect(ticks.length).toBeGreaterThan(0)
    expect(ticks).toHaveLength(inSight?.length ?? -1)
    expect(document.querySelectorAll('#strip-best-1 svg.plot [aria-label="rect"] rect').length).toBeGreaterThan(5)
  })

  it('begins with the summary and says that it measures the procedure', () => {
    expect(document.querySelector('#summary p')?.textContent).toBe(record.summary[0])
    expect(document.querySelector('#caveats')?.textContent).toContain('not the final weights')
    expect(page.indexOf('id="summary"')).toBeLessThan(page.indexOf('<table'))
  })

  it('names every score in the headline table, with its interval', () => {
    const heading = document.getElementById('headline')
    const rows = [
      ...(heading?.parentElement?.querySelectorAll('#headline ~ .scroll')[0]?.querySelectorAll('tbody tr') ?? []),
    ]
    expect(rows.map((row) => row.querySelector('th')?.textContent)).toEqual(record.predictors.map((one) => one.name))
    for (const row of rows) expect(row.querySelector('td')?.textContent).toMatch(/^\S+\[\S+ \S+\]$/)
  })

  it('is the same text for the same record', () => {
    expect(renderReport(record, STUDIES)).toEqual(report)
  })

  it('follows light and dark, and fits a phone', () => {
    expect(styleSheets().some((style) => style.includes('prefers-color-scheme: dark'))).toBe(true)
    expect(document.querySelector('meta[name="viewport"]')?.getAttribute('content')).toContain('width=device-width')
  })
})
