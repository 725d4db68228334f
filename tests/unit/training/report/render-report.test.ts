import { parseHTML } from 'linkedom'
import { describe, expect, it } from 'vitest'
import { evaluate } from '../../../../training/evaluate.ts'
import { CONTENT_SECURITY_POLICY, renderReport } from '../../../../training/report/render-report.ts'
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
const page = renderReport(record)
const { document } = parseHTML(page)
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

  it('loads nothing from anywhere', () => {
    const elements = [...document.querySelectorAll('*')]
    const loading = elements.flatMap((element) =>
      ['src', 'srcset', 'href', 'xlink:href', 'data', 'poster', 'background'].filter((name) =>
        element.hasAttribute(name),
      ),
    )
    expect(loading).toEqual([])
    const styles = [...elements.map((element) => element.getAttribute('style') ?? ''), ...styleSheets()]
    expect(styles.filter((style) => /url\(|@import|expression/i.test(style))).toEqual([])
  })

  it.each([
    'roc',
    'precision-recall',
    'reliability',
    'score-by-age-hidden',
    'score-by-age-hidden+evidence',
    'score-by-age-evidence',
    'domains-plot',
  ])('draws the figure %s with marks in it', (id) => {
    const figure = document.getElementById(id)
    expect(figure?.querySelector('figcaption')?.textContent).not.toBe('')
    const svg = figure?.querySelector('svg')
    expect(svg?.getAttribute('aria-label')).not.toBe('')
    const marks = [...(svg?.querySelectorAll('[aria-label="line"] path, [aria-label="dot"] *') ?? [])]
    expect(marks.length).toBeGreaterThan(3)
    expect(/NaN|undefined|Infinity/.exec(svg?.outerHTML ?? '')).toBeNull()
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
    expect(renderReport(record) === page).toBe(true)
  })

  it('follows light and dark, and fits a phone', () => {
    expect(styleSheets().some((style) => style.includes('prefers-color-scheme: dark'))).toBe(true)
    expect(document.querySelector('meta[name="viewport"]')?.getAttribute('content')).toContain('width=device-width')
  })
})
