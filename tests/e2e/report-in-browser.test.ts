/**
 * The report in a real browser: it asks for nothing, fits a phone, follows light and dark, and prints.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect } from 'vitest'
import { compareRuns } from '../../training/compare/compare-runs.ts'
import { renderComparison } from '../../training/compare/render-comparison.ts'
import { evaluate } from '../../training/evaluate.ts'
import { type Report, renderReport } from '../../training/report/render-report.ts'
import { itWithBrowser, openPage } from '../fixtures/browser.ts'
import { STUDIES } from '../fixtures/study-records.ts'
import { syntheticDataset, syntheticTrajectories } from '../fixtures/synthetic-dataset.ts'
import { syntheticPredictions } from '../fixtures/synthetic-predictions.ts'

const folder = mkdtempSync(join(tmpdir(), 'keepready-report-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const dataset = syntheticDataset({ groups: 18, minLength: 8, maxLength: 12 })
const OPTIONS = { seed: 4, resamples: 20 }

function written(name: string, { page, figures }: Report): string {
  mkdirSync(join(folder, name, 'figures'), { recursive: true })
  for (const { path, text } of figures) writeFileSync(join(folder, name, path), text)
  const file = join(folder, name, 'index.html')
  writeFileSync(file, page)
  return file
}

async function evaluationPage(): Promise<string> {
  const record = await evaluate({
    dataset,
    trajectories: syntheticTrajectories(dataset),
    ...syntheticPredictions(dataset),
    router: { directory: 'router', served: 'evidence' },
    ...OPTIONS,
  })
  return written('report', renderReport(record, STUDIES))
}

function comparisonPage(): string {
  const run = (name: string) => ({
    name,
    dataset,
    router: name,
    ...syntheticPredictions(dataset),
    inputs: 'evidence' as const,
    settings: { recipe: name },
  })
  return written('comparison', renderComparison(compareRuns([run('once'), run('full')], OPTIONS)))
}

const PAGES = [
  ['report', evaluationPage],
  ['comparison', comparisonPage],
] as const

/** Chromium writes its page objects as plain text. */
function pagesOf(pdf: Buffer): number {
  return pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0
}

describe('a page in a real browser', () => {
  for (const [name, make] of PAGES)
    itWithBrowser(`prints the ${name} to PDF, fits 400 pixels, has two schemes and asks for nothing`, async () => {
      const file = await make()
      await using page = await openPage(file)
      const background = 'getComputedStyle(document.body).backgroundColor'
      const backgrounds: unknown[] = []
      for (const width of [1200, 400])
        for (const dark of [false, true]) {
          await page.look({ width, dark })
          const wide = Number(await page.value('document.documentElement.scrollWidth'))
          expect(wide, `${width} pixels, dark ${dark}`).toBeLessThanOrEqual(width)
          backgrounds.push(await page.value(background))
        }
      expect(backgrounds).toEqual(['rgb(255, 255, 255)', 'rgb(20, 23, 27)', 'rgb(255, 255, 255)', 'rgb(20, 23, 27)'])
      const scrolling =
        "[...document.querySelectorAll('.scroll')].filter((box) => box.scrollWidth > box.clientWidth).length"
      expect(await page.value(scrolling)).toBeGreaterThan(0)

      await page.look({ width: 800, dark: true, print: true })
      expect(await page.value(background)).toBe('rgb(255, 255, 255)')
      const folded =
        "[...document.querySelectorAll('details > :not(summary)')].filter((one) => one.offsetHeight === 0).length"
      expect(await page.value(folded)).toBe(0)
      expect(pagesOf(await page.pdf())).toBeGreaterThan(0)

      expect(page.requests).toEqual([pathToFileURL(file).href])
      expect(page.complaints).toEqual([])
    })

  itWithBrowser('notices what a page asks for, so that asking for nothing means something', async () => {
    const file = join(folder, 'asks.html')
    writeFileSync(file, '<!doctype html><title>x</title><img src="figure.png" alt="">')
    await using page = await openPage(file)
    expect(page.requests).toEqual([pathToFileURL(file).href, pathToFileURL(join(folder, 'figure.png')).href])
  })
})
