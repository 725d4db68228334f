import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCommand, STUDY_FILE } from '../../../../src/cli/commands/study.ts'
import { parseStudy } from '../../../../training/report/study.schema.ts'
import { extractFakeDataset } from '../../../fixtures/fake-dataset.ts'
import { runInstantly } from '../../../fixtures/instant-runner.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'
import { syntheticDataset, syntheticTrajectories } from '../../../fixtures/synthetic-dataset.ts'

const RUNS = syntheticTrajectories(syntheticDataset({ groups: 14, minLength: 8, maxLength: 9 }))
let folder: string
const path = (name: string): string => join(folder, name)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-study-command-'))
  await extractFakeDataset({ runs: RUNS, out: path('dataset') })
})
afterAll(() => rm(folder, { recursive: true, force: true }))
const run = (...args: readonly string[]): Promise<Outcome> =>
  runInProcess(createCommand(runInstantly), [
    path('dataset'),
    ...args,
    '--inputs',
    'evidence',
    '--backend',
    'ort-cpu',
    '--bootstrap',
    '100',
  ])

describe('keepready study', () => {
  it('prints the fraction table with its baseline and writes a study that the report can read', async () => {
    const out = path('fraction')
    const text = await run('--kind', 'fraction', '--fractions', '50,100', '--out', out)
    expect(text.code).toBe(0)
    expect(text.out).toMatch(/share of the training groups +groups +test runs +READY +evidence +age-position-length-lr/)
    expect(text.out).toMatch(/^50 % /m)
    expect(text.out).toMatch(/^100 % /m)
    expect(text.out).toContain('training/LOG.md')
    expect(text.err).toMatch(/study: 2 points of 2 scores/)
    const file = join(out, STUDY_FILE)
    const record = parseStudy(file, await readFile(file, 'utf8'))
    expect(record.points.map(({ x }) => x)).toEqual([0.5, 1])
  })

  it('runs each kind, with any baselines or none, and says the same twice', async () => {
    const seeds = ['--kind', 'seeds', '--seeds', '2', '--out', path('seeds'), '--baselines', 'none', '--json']
    const first = await run(...seeds)
    expect(JSON.parse(first.out)).toMatchObject({ kind: 'seeds', points: [{ x: 1 }, { x: 2 }] })
    expect((await run(...seeds)).out).toBe(first.out)
    const domains = await run('--kind', 'domain', '--out', path('domain'), '--baselines', 'age,observation-tfidf-lr')
    expect(domains.out).toMatch(/evidence, domain seen +age +observation-tfidf-lr/)
    expect(domains.out).toMatch(/^tau-bench /m)
  })

  it('refuses fractions out of range before it trains anything', async () => {
    const { err, code } = await run('--kind', 'fraction', '--fractions', '0,50', '--out', path('never'))
    expect(code).toBe(2)
    expect(err).toContain('--fractions holds 0')
  })
})
