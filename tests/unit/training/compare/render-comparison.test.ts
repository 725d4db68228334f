import { parseHTML } from 'linkedom'
import { describe, expect, it } from 'vitest'
import { compareRuns } from '../../../../training/compare/compare-runs.ts'
import { renderComparison } from '../../../../training/compare/render-comparison.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'
import { syntheticPredictions } from '../../../fixtures/synthetic-predictions.ts'

const HOSTILE = '<script>alert("1")</script>'
const dataset = syntheticDataset({ groups: 30, minLength: 8, maxLength: 14, domains: ['tau-bench', HOSTILE] })
const run = (name: string, recipe: string) => ({
  name,
  dataset,
  router: `router-${name}`,
  ...syntheticPredictions(dataset),
  inputs: 'evidence' as const,
  settings: { recipe, layer: '4' },
})
const comparison = compareRuns([run(`a ${HOSTILE}`, 'full'), run('b', 'once'), run('c', 'shared-first')], {
  seed: 1,
  resamples: 100,
})
const report = renderComparison(comparison)
const { document } = parseHTML(report.page)

describe('page of a comparison', () => {
  it('begins with what was found, in words', () => {
    expect(document.querySelector('#summary p')?.textContent).toBe(comparison.summary[0])
    expect(report.page.indexOf('id="summary"')).toBeLessThan(report.page.indexOf('<table'))
  })

  it('shows what differs between the runs in a table and folds away what does not', () => {
    const heads = [...document.querySelectorAll('#runs + .scroll th')].map((cell) => cell.textContent)
    expect(heads).toContain('recipe')
    expect(heads).not.toContain('layer')
    expect(document.querySelector('#runs ~ details')?.textContent).toContain('layer')
  })

  it('has one row of differences per further run, with the verdict in words', () => {
    const rows = [...document.querySelectorAll('#inputs-1 + .scroll tbody tr')]
    expect(rows.map((row) => row.querySelector('th')?.textContent)).toEqual(['b', 'c'])
    for (const row of rows) expect(row.lastElementChild?.textContent).toMatch(/^cannot tell . and a .* apart: \+\.000/)
  })

  it('draws the differences by domain, and gives each figure its data', () => {
    const forest = document.querySelector('#difference-1-withinAuroc svg.plot')
    expect(forest?.textContent).toContain('all domains')
    expect(forest?.textContent).toContain(HOSTILE)
    expect(forest?.querySelectorAll('[aria-label="dot"] path').length).toBe(6)
    const ids = [...document.querySelectorAll('figure')].map((figure) => `figures/${figure.id}.json`)
    expect(report.figures.map((figure) => figure.path).sort()).toEqual(ids.sort())
  })

  it('escapes names, loads nothing and holds no script', () => {
    expect(/<script/i.exec(report.page)).toBeNull()
    expect(document.querySelectorAll('script, img, link, iframe')).toHaveLength(0)
  })
})
