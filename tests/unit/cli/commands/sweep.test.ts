import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Extractor } from '../../../../models/frozen-lm/extraction.ts'
import { createCommand, SWEEP_FILE } from '../../../../src/cli/commands/sweep.ts'
import { extractFakeDataset } from '../../../fixtures/fake-dataset.ts'
import { fakeExtractor } from '../../../fixtures/fake-extractor.ts'
import { runInstantly } from '../../../fixtures/instant-runner.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'
import { syntheticDataset, syntheticTrajectories } from '../../../fixtures/synthetic-dataset.ts'

const RUNS = syntheticTrajectories(syntheticDataset({ groups: 12, minLength: 8, maxLength: 10 }))
let folder: string

async function makeDataset(
  name: string,
  options: { readonly layer?: number; readonly labels?: string } = {},
): Promise<string> {
  const out = join(folder, name)
  const extractor = fakeExtractor({})
  const layer = options.layer ?? 2
  const atLayer: Extractor = { ...extractor, representation: { ...extractor.representation, layer } }
  await extractFakeDataset({
    runs: RUNS,
    out,
    hashes: { runsSha256: 'a'.repeat(64), labelsSha256: (options.labels ?? 'b').repeat(64) },
    extractor: atLayer,
  })
  return out
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-sweep-command-'))
  await makeDataset('layer2')
  await makeDataset('layer3', { layer: 3 })
})
afterAll(() => rm(folder, { recursive: true, force: true }))
const path = (name: string): string => join(folder, name)
const run = (...args: readonly string[]): Promise<Outcome> =>
  runInProcess(createCommand(runInstantly), [...args, '--backend', 'ort-cpu', '--bootstrap', '100'])

describe('keepready sweep', () => {
  it('prints both tables, the train command and the reminder, and writes sweep.json', async () => {
    const { out, err, code } = await run(
      path('layer2'),
      path('layer3'),
      '--out',
      path('sweep'),
      '--width',
      '4',
      '--positive-weight',
      '1,5',
    )
    expect(code).toBe(0)
    for (const text of ['#2', 'layer 3', 'chosen by', 'validation', 'Most chosen: ', 'training/LOG.md'])
      expect(out).toContain(text)
    expect(out).toMatch(/keepready train \S+layer[23] --out router\/ --inputs \S+ --positive-weight \d+ --width 4 /)
    expect(err).toMatch(/sweep: 10 configurations in 5 rotations/)
    const record: unknown = JSON.parse(await readFile(path(`sweep/${SWEEP_FILE}`), 'utf8'))
    expect(record).toMatchObject({ schemaVersion: 1, search: { kind: 'grid', configurations: 10, jobs: 55 } })
  })

  it('says the same when it is run again, from the journal', async () => {
    const args = [path('layer2'), '--out', path('again'), '--inputs', 'evidence', '--json']
    const first = await run(...args)
    const second = await run(...args)
    expect(second.out).toBe(first.out)
    expect(second.err).toContain('25 of 30 jobs are done already')
  })

  it('draws configurations with --random', async () => {
    const { out } = await run(path('layer2'), '--out', path('random'), '--random', '6', '--json')
    expect(JSON.parse(out)).toMatchObject({ search: { kind: 'random', configurations: 6, jobs: 35 } })
  })

  it('refuses datasets of other labels, and names them and what differs', async () => {
    await makeDataset('other', { labels: 'c' })
    const { err, code } = await run(path('layer2'), path('other'), '--out', path('never'))
    expect(code).toBe(2)
    expect(err).toContain(`${path('other')} does not hold the same data as ${path('layer2')} (different: labels file)`)
  })

  it('refuses values out of range before it trains anything', async () => {
    const { err, code } = await run(path('layer2'), '--out', path('never'), '--lr', '3')
    expect(code).toBe(2)
    expect(err).toContain('--lr is 3, it must be above 0 and below 1')
  })
})
