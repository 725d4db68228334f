import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { annotateLineage } from '../../../../data/annotate/lineage.ts'
import { distributionOf } from '../../../../data/inspect/distribution.ts'
import { writeLabels } from '../../../../data/store/labels.ts'
import { writeRuns } from '../../../../data/store/runs.ts'
import { createCommand } from '../../../../src/cli/commands/inspect.ts'
import type { Trajectory } from '../../../../src/trajectory/trajectory.ts'
import { extractDataset } from '../../../../training/extract.ts'
import { fakeExtractor } from '../../../fixtures/fake-extractor.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'
import { runOf } from '../../evidence/run-of.ts'

const copied = Array.from({ length: 60 }, (_, i) => `copied${i}`).join(' ')
const steps = [{ sees: `the_word ${copied}` }, { text: 'the_word', call: '{}' }, { sees: '' }, { text: 'done' }]
const runs: readonly Trajectory[] = [
  { ...runOf({ id: 'a', domain: 'one', steps, turns: [{ before: 1, text: 'go on' }] }), truncated: true },
  { ...runOf({ id: 'b', domain: 'two', steps }), parent: 'a' },
  runOf({ id: 'c', domain: 'two', steps: [{ text: 'short' }] }),
]

let folder = ''
let runsPath = ''
let labelsPath = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-inspect-'))
  runsPath = join(folder, 'first.jsonl')
  labelsPath = join(folder, 'second.jsonl')
  await writeRuns(runsPath, runs)
  await writeLabels(
    labelsPath,
    runs.map((run) => annotateLineage(run)),
  )
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function inspect(...args: readonly string[]): Promise<Outcome> {
  return runInProcess(createCommand(), args)
}

describe('keepready inspect', () => {
  it('counts runs, whatever their file is called', async () => {
    const { out, code } = await inspect(runsPath, '--json')
    expect(code).toBe(0)
    const [{ card }] = JSON.parse(out).cards
    expect(card).toMatchObject({
      kind: 'runs',
      runs: 3,
      groups: 3,
      interactions: 9,
      truncated: 1,
      withoutCheckpoint: 1,
      subAgents: 1,
      unanswered: 2,
      observations: 4,
      emptyObservations: 2,
      errorObservations: 0,
      turns: { user: 1, context: 0, summary: 0 },
      interactionsPerRun: { count: 3, total: 9, p50: 4, max: 4 },
      groupsAfterMerging: 2,
      nearCopies: [{ group: 'a', members: ['a', 'b'] }],
    })
    expect(card.byDomain.map(({ name, runs: count }: { name: string; runs: number }) => [name, count])).toEqual([
      ['one', 1],
      ['two', 2],
    ])
    expect(card.tokens).toBe(card.tokensPerInteraction.total)
  })

  it('says for a person which groups are one and by which runs', async () => {
    const { out } = await inspect(runsPath)
    expect(out).toContain('near copies: 2 groups are 1')
    expect(out).toMatch(/a \+ b +95 % +a \/ b/)
    expect(out).toContain('2 groups for splits')
  })

  it('counts labels, and by domain when the runs stand beside them', async () => {
    const alone = JSON.parse((await inspect(labelsPath, '--json')).out)
    expect(alone.cards[0].card).toMatchObject({ kind: 'labels', runs: 3, all: { pairs: 6, ready: 4 }, ready: 2 })
    expect(alone.labels).toBeUndefined()
    const { out } = await inspect(labelsPath, runsPath)
    expect(out).toContain(`== ${labelsPath}`)
    expect(out).toContain('== both together')
    expect(JSON.parse((await inspect(runsPath, labelsPath, '--json')).out).labels).toMatchObject({ runs: 3 })
  })

  it('counts a dataset from its manifest and pairs, with its merged groups', async () => {
    const out = join(folder, 'dataset')
    await extractDataset({
      runs,
      labels: runs.map((run) => annotateLineage(run)),
      inputs: { runsSha256: 'a'.repeat(64), labelsSha256: 'b'.repeat(64) },
      representation: fakeExtractor({}).representation,
      startExtractor: () => Promise.resolve(fakeExtractor({})),
      out,
    })
    const [{ card }] = JSON.parse((await inspect(out, '--json')).out).cards
    expect(card).toMatchObject({
      kind: 'dataset',
      all: { pairs: 6, ready: 4 },
      withFuture: { pairs: 0, ready: 0 },
      interactionsPerRun: { count: 2, p50: 4 },
      sourceTokens: { count: 4 },
      truncatedViews: { of: 4 },
      nearCopies: [{ members: ['a', 'b'] }],
      groupsPerPart: null,
    })
    const text = (await inspect(out)).out
    expect(text).toContain('2 runs in 1 groups, 6 pairs, READY 66.7 %')
    expect(text).toContain('near copies: 2 groups are 1')
  })

  it('refuses what it does not know, by content', async () => {
    const path = join(folder, 'x.jsonl')
    await writeFile(path, '{"type":"user"}\n')
    expect((await inspect(path)).err).toContain('[format-unknown]')
    await writeFile(path, '')
    expect((await inspect(path)).err).toContain('[format-unknown]')
    expect((await inspect(join(folder, 'none'))).err).toContain('[file-not-found]')
    expect(await inspect(folder)).toMatchObject({ code: 2 })
  })
})

describe('a distribution', () => {
  it('interpolates between neighbours, and is all 0 for nothing', () => {
    expect(distributionOf([4, 1, 3, 2, 5])).toEqual({ count: 5, total: 15, p10: 1.4, p50: 3, p90: 4.6, max: 5 })
    expect(distributionOf([])).toEqual({ count: 0, total: 0, p10: 0, p50: 0, p90: 0, max: 0 })
  })
})
