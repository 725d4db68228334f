import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDataset } from '../../../../data/store/read-dataset.ts'
import { createCommand } from '../../../../src/cli/commands/evaluate.ts'
import { runInline } from '../../../../training/inline-runner.ts'
import { trainRouter } from '../../../../training/train.ts'
import { extractFakeDataset } from '../../../fixtures/fake-dataset.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'
import { syntheticDataset, syntheticTrajectories } from '../../../fixtures/synthetic-dataset.ts'

const SYNTHETIC = syntheticDataset({ groups: 18, minLength: 8, maxLength: 12 })
const RUNS = syntheticTrajectories(SYNTHETIC)
let folder: string

async function makeDataset(name: string, labelsSha256: string): Promise<string> {
  const out = join(folder, name)
  await extractFakeDataset({ runs: RUNS, out, hashes: { runsSha256: 'a'.repeat(64), labelsSha256 } })
  return out
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-evaluate-'))
  await trainRouter({
    dataset: await readDataset(await makeDataset('dataset', 'b'.repeat(64))),
    out: join(folder, 'router'),
    inputs: 'auto',
    overrides: { width: 8, epochs: 1 },
    runJobs: runInline,
    node: 'test',
    source: 'test',
  })
})
afterAll(() => rm(folder, { recursive: true, force: true }))
const run = (...args: readonly string[]): Promise<Outcome> => runInProcess(createCommand(), args)

const path = (name: string): string => join(folder, name)

describe('keepready evaluate', () => {
  it('writes metrics.json and one HTML page, and prints the table, the summary and the files', async () => {
    const { out, err, code } = await run(path('dataset'), '--router', path('router'), '--out', path('report'))
    expect(code).toBe(0)
    const metrics: unknown = JSON.parse(await readFile(path('report/metrics.json'), 'utf8'))
    expect(metrics).toMatchObject({ schemaVersion: 2, rotations: 5, bootstrap: { resamples: 1000 } })
    const page = await readFile(path('report/index.html'), 'utf8')
    expect(page.startsWith('<!doctype html>')).toBe(true)
    for (const name of ['hidden+evidence', 'random', 'observation-tfidf-lr', 'q-only']) expect(out).toContain(name)
    expect(out).toMatch(/the router on .* reaches a within-trajectory AUROC of/)
    expect(out).toContain(path('report/index.html'))
    expect(err).toMatch(/evaluate: 14 scores on .* held-out pairs/)
    expect((await stat(path('report/metrics.json'))).mode & 0o077).toBe(0)
  })

  it('prints one JSON document with --json, the same for the same seed', async () => {
    const args = [path('dataset'), '--router', path('router'), '--out', path('json'), '--bootstrap', '100', '--json']
    const first = await run(...args)
    const { headline } = JSON.parse(first.out) as { readonly headline: readonly { readonly name: string }[] }
    expect(
      headline
        .slice(0, 4)
        .map((one) => one.name)
        .sort(),
    ).toEqual(['evidence', 'hidden', 'hidden+evidence', 'random'])
    expect((await run(...args)).out).toBe(first.out)
  })

  it('refuses a router that was trained on other labels, and names what differs', async () => {
    const other = await makeDataset('other', 'c'.repeat(64))
    const { err, code } = await run(other, '--router', path('router'), '--out', path('never'))
    expect(code).toBe(2)
    expect(err).toContain('different: labels')
    expect(err).toContain('[option-invalid]')
  })

  it('refuses a dataset or a router that is not there', async () => {
    expect((await run(path('none'), '--router', path('router'), '--out', path('never'))).code).toBe(2)
    expect((await run(path('dataset'), '--router', path('none'), '--out', path('never'))).code).toBe(2)
  })
})
