import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDataset } from '../../../../data/store/read-dataset.ts'
import { createCommand } from '../../../../src/cli/commands/compare.ts'
import { readStudies } from '../../../../src/cli/read-studies.ts'
import { runInline } from '../../../../training/inline-runner.ts'
import { trainRouter } from '../../../../training/train.ts'
import { extractFakeDataset } from '../../../fixtures/fake-dataset.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'
import { STUDIES } from '../../../fixtures/study-records.ts'
import { syntheticDataset, syntheticTrajectories } from '../../../fixtures/synthetic-dataset.ts'

const RUNS = syntheticTrajectories(syntheticDataset({ groups: 12, minLength: 8, maxLength: 9 }))
const HASHES = { runsSha256: 'a'.repeat(64), labelsSha256: 'b'.repeat(64) }
let folder: string
const path = (name: string): string => join(folder, name)
const run = (...args: readonly string[]): Promise<Outcome> => runInProcess(createCommand(), args)

async function makeDataset(name: string, stride: number): Promise<void> {
  await extractFakeDataset({ runs: RUNS, out: path(name), hashes: HASHES, stride })
}

async function train(dataset: string, out: string, width: number, seed: number): Promise<void> {
  await trainRouter({
    dataset: await readDataset(path(dataset)),
    out: path(out),
    inputs: 'evidence',
    overrides: { width, epochs: 1, seed },
    runJobs: runInline,
    node: 'test',
    source: 'test',
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-compare-'))
  await makeDataset('ds', 2)
  await makeDataset('ds-other-labels', 3)
  await train('ds', 'narrow', 4, 1)
  await train('ds', 'wide', 16, 1)
  await train('ds', 'reseeded', 4, 2)
  await train('ds-other-labels', 'relabelled', 4, 1)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const of = (router: string, dataset = 'ds'): string => `${path(dataset)},${path(router)}`

describe('keepready compare', () => {
  it('writes comparison.json, a page and its figures, and prints the table and the verdict in words', async () => {
    const { out, err, code } = await run(of('narrow'), of('wide'), '--out', path('c'), '--bootstrap', '100')
    expect(code).toBe(0)
    expect(out).toMatch(/evidence\s+wide\s+\.\d+ \[/)
    expect(out).toMatch(/(cannot tell wide and narrow apart|wide is (better|worse) than narrow): [+-]/)
    expect(err).toMatch(/compare: [\d,]+ common held-out pairs/)
    const comparison: unknown = JSON.parse(await readFile(path('c/comparison.json'), 'utf8'))
    expect(comparison).toMatchObject({
      runs: [
        { name: 'narrow', settings: { width: '4' } },
        { name: 'wide', settings: { width: '16' } },
      ],
      bootstrap: { resamples: 100, seed: 1 },
    })
    expect(await readFile(path('c/index.html'), 'utf8')).toContain('What differs between the runs')
    expect(await readdir(path('c/figures'))).toContain('difference-1-withinAuroc.json')
  })

  it('reads where a report came from, and takes names and kinds of input', async () => {
    const source = { schemaVersion: 2, dataset: { directory: path('ds') }, router: { directory: path('wide') } }
    await writeFile(path('metrics.json'), JSON.stringify(source))
    const args = [
      `old=${of('narrow')},evidence`,
      `new=${folder}`,
      '--out',
      path('named'),
      '--bootstrap',
      '100',
      '--json',
    ]
    const { out, code } = await run(...args)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      runs: [{ name: 'old' }, { name: 'new' }],
      headline: [{ run: 'new', against: 'old' }],
    })
  })

  it.each([
    [
      'another seed',
      () => [of('narrow'), of('reseeded')],
      'runs-incomparable',
      /part \d of narrow and in part \d of reseeded/,
    ],
    [
      'other labels',
      () => [of('narrow'), of('relabelled', 'ds-other-labels')],
      'labels-mismatch',
      /narrow and relabelled were labelled differently: \d+ of \d+ common pairs/,
    ],
    ['one run', () => [of('narrow')], 'option-invalid', /at least 2 are needed/],
    [
      'one name twice',
      () => [of('narrow'), of('narrow')],
      'option-invalid',
      /two runs are called narrow: name them, e\.g\. a=/,
    ],
    ['no report', () => [path('none'), of('narrow')], 'file-not-found', /none\/metrics\.json is not there/],
    [
      'an unknown kind',
      () => [`${of('narrow')},hiden`, of('wide')],
      'option-invalid',
      /hiden in .* is no kind of input/,
    ],
    ['an untrained kind', () => [`${of('narrow')},hidden`, of('wide')], 'option-invalid', /no kind of input in common/],
    ['too many parts', () => [`${of('narrow')},evidence,x`, of('wide')], 'option-invalid', /is neither/],
  ] as const)('refuses %s by name', async (_, args, code, message) => {
    const { err, code: exit } = await run(...args(), '--out', path('never'))
    expect(err).toContain(`[${code}]`)
    expect(err).toMatch(message)
    expect(exit).toBe(2)
  })

  it('refuses a metrics.json that it cannot read', async () => {
    await writeFile(path('metrics.json'), '{"schemaVersion": 99}')
    const { err } = await run(of('narrow'), folder, '--out', path('never'))
    expect(err).toMatch(/metrics\.json is no metrics\.json of schema version 1 to \d.*\[option-invalid\]/)
  })
})

describe('studies of a report', () => {
  const write = (study: unknown): Promise<void> => writeFile(path('study.json'), JSON.stringify(study))

  it('are read when they are about the same runs and labels', async () => {
    const study = { ...STUDIES[0], dataset: { ...STUDIES[0]?.dataset, ...HASHES } }
    await write(study)
    expect(await readStudies([folder], await readDataset(path('ds')))).toEqual([study])
  })

  it('are refused when they are about others, are none, or are not there', async () => {
    const dataset = await readDataset(path('ds'))
    const refusal = (code: string, message: RegExp) =>
      expect.objectContaining({ code, message: expect.stringMatching(message) })
    await write({ ...STUDIES[0], dataset: { ...STUDIES[0]?.dataset, ...HASHES, labelsSha256: 'c'.repeat(64) } })
    await expect(readStudies([folder], dataset)).rejects.toThrow(refusal('option-invalid', /different: labels/))
    await write({ ...STUDIES[0], points: [{}] })
    await expect(readStudies([folder], dataset)).rejects.toThrow(
      refusal('option-invalid', /is no study of schema version 1/),
    )
    await expect(readStudies([path('ds')], dataset)).rejects.toThrow(
      refusal('file-not-found', /study\.json is not there/),
    )
  })
})
