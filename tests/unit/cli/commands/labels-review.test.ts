import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { annotateLineage } from '../../../../data/annotate/lineage.ts'
import { readLabels, writeLabels } from '../../../../data/store/labels.ts'
import { writeRuns } from '../../../../data/store/runs.ts'
import { createCommand } from '../../../../src/cli/commands/labels.ts'
import { displayWidth } from '../../../../src/cli/terminal-text.ts'
import type { Trajectory } from '../../../../src/trajectory/trajectory.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'
import { runOf } from '../../evidence/run-of.ts'

const steps = [
  { sees: 'found the_word in \u001b[31msrc/app.ts\u001b[0m' },
  { reasoning: 'so look at The_Word now' },
  { call: JSON.stringify({ path: 'src/app.ts', text: `long ${'x'.repeat(300)}` }), sees: 'ok' },
  { text: 'use the_word again' },
  { text: '\u4e2d\u6587 plain' },
]
const runs: readonly Trajectory[] = [
  runOf({ id: 'one/abc', domain: 'one', steps, task: 'Do it\nwell', turns: [{ before: 3, text: 'please\ngo on' }] }),
  runOf({ id: 'one/abd', domain: 'one', steps: [{}, {}, {}] }),
]

let folder = ''
let runsPath = ''
let labelsPath = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-labels-'))
  runsPath = join(folder, 'runs.jsonl')
  labelsPath = join(folder, 'labels.jsonl')
  await writeRuns(runsPath, runs)
  await writeLabels(
    labelsPath,
    runs.map((run) => annotateLineage(run)),
  )
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function show(run: string, ...flags: readonly string[]): Promise<Outcome> {
  return runInProcess(createCommand(), ['show', run, '--runs', runsPath, '--labels', labelsPath, ...flags])
}

describe('keepready labels show', () => {
  it('prints a row an interaction with its boundary, its bar and its quotes', async () => {
    const { out, code } = await show('one/abc', '--width', '100')
    expect(code).toBe(0)
    const rows = out.split('\n')
    const first = rows.find((line) => line.startsWith('  0 ')) ?? ''
    expect(first).toMatch(/ 0 {2}text +\d+ +4 {2}\u25cfu\u2500v\u2588\u2588 {2}u1 "The_Word" {2}v3 "the_word"$/)
    expect(rows.filter((line) => /^ {2}\d /.test(line)).length).toBe(5)
    expect(out).toContain('task: Do it well')
    expect(out).toContain('[user] please go on')
    expect(out).toContain('labelled by lineage')
  })

  it.each(['60', '80', '120'])('keeps every line within %s columns', async (width) => {
    const { out } = await show('one/abc', '--width', width)
    expect(out.split('\n').filter((line) => displayWidth(line) > Number(width))).toEqual([])
  })

  it('writes no colour into a pipe, and never the codes of a log', async () => {
    const { out } = await show('one/abc')
    expect(out).not.toContain('\u001b')
    expect((await show('one/abc', '--interaction', '0')).out).not.toContain('\u001b')
  })

  it('shows one interaction with the text around each quote', async () => {
    const { out } = await show('one/abc', '--interaction', '0')
    expect(out).toContain('READY from checkpoint 4 on: first taken up at 1, last used at 3')
    expect(out).toContain('uptake at interaction 1:\n  so look at >>The_Word<< now')
    expect(out).toContain('veto at interaction 3:\n  use >>the_word<< again')
    expect(out).toContain('observed  found the_word in src/app.ts')
    expect((await show('one/abc', '--interaction', '1')).out).toContain(
      'KEEP at every checkpoint: introduced no literal',
    )
  })

  it('prints one document with --json', async () => {
    const timeline = JSON.parse((await show('one/abc', '--json')).out)
    expect(timeline).toMatchObject({ run: { id: 'one/abc', interactions: 5 }, annotator: 'lineage' })
    expect(timeline.entries.map((entry: { interaction: number }) => entry.interaction)).toEqual([0, 1, 2, 3, 4])
    const detail = JSON.parse((await show('one/abc', '--interaction', '0', '--json')).out)
    expect(detail.quotes[0]).toMatchObject({ interaction: 1, context: { before: 'so look at ', after: ' now' } })
  })

  it('takes enough of an id, and says which runs fit when it is not enough', async () => {
    expect((await show('one/abd')).code).toBe(0)
    expect((await show('abc')).code).toBe(0)
    const { code, err } = await show('one/')
    expect(code).toBe(2)
    expect(err).toContain('2 runs fit "one/": one/abc, one/abd')
  })

  it('refuses an interaction the run does not have, a width that holds no columns, and a run without labels', async () => {
    expect((await show('one/abc', '--interaction', '5')).err).toContain('has the interactions 0 to 4')
    expect((await show('one/abc', '--width', '20')).err).toContain('[option-invalid]')
    await writeLabels(labelsPath, [annotateLineage(runs[1] as Trajectory)])
    expect((await show('one/abc')).err).toContain('[labels-mismatch]')
  })
})

describe('keepready labels edit', () => {
  async function edit(lines: readonly unknown[], out = join(folder, 'edited.jsonl')): Promise<Outcome> {
    const corrections = join(folder, 'fixes.jsonl')
    await writeFile(
      corrections,
      lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    )
    return runInProcess(createCommand(), [
      ...['edit', labelsPath, '--corrections', corrections],
      ...['--runs', runsPath, '--out', out],
    ])
  }
  const good = { run: 'one/abc', interaction: 0, boundary: null, reason: 'still open', reviewer: 'Ann Lee' }

  it('writes corrected labels beside the old ones, readable by their owner, with the reviewer named', async () => {
    const before = await readFile(labelsPath)
    const { code, out } = await edit([good])
    expect(code).toBe(0)
    expect(out).toMatch(/1 +one\/abc +0 +READY from 4 +KEEP/)
    const edited = join(folder, 'edited.jsonl')
    const [row] = await readLabels(edited)
    expect([row?.annotator, row?.labels[0]?.boundary]).toEqual(['lineage+edits:Ann Lee', null])
    expect((await stat(edited)).mode & 0o777).toBe(0o600)
    expect(await readFile(labelsPath)).toEqual(before)
  })

  it('names every wrong line and writes nothing', async () => {
    const { code, err } = await edit([
      good,
      '{"run":',
      { ...good, interaction: 9 },
      { ...good, boundary: 'soon', by: 'x' },
    ])
    expect(code).toBe(2)
    expect(err).toContain('4 problem(s), nothing was written')
    expect(err).toMatch(/line 2: .*\n +line 3: interaction 9 has no label.*\n +line 4: boundary: .*\n +line 4: /)
    await expect(stat(join(folder, 'edited.jsonl'))).rejects.toThrow('ENOENT')
  })

  it('refuses a reviewer that would not fit the annotator name, an empty file, and to overwrite its input', async () => {
    expect((await edit([{ ...good, reviewer: 'a,b' }])).err).toContain('reviewer: must be a name')
    expect((await edit([])).err).toContain('holds no correction')
    expect((await edit([good], labelsPath)).err).toContain('is the labels file itself')
    const absent = ['--corrections', join(folder, 'none'), '--runs', runsPath, '--out', join(folder, 'x')]
    expect((await runInProcess(createCommand(), ['edit', labelsPath, ...absent])).err).toContain('[file-not-found]')
  })
})

describe('keepready labels agreement', () => {
  it('prints the table, kappa, boundaries and the command that shows the largest disagreement', async () => {
    const other = join(folder, 'other.jsonl')
    const rows = await readLabels(labelsPath)
    await writeLabels(
      other,
      rows.map((row) => ({
        ...row,
        annotator: 'hand',
        labels: row.labels.map((label) => ({ ...label, boundary: null })),
      })),
    )
    const compare = (...flags: readonly string[]): Promise<Outcome> =>
      runInProcess(createCommand(), ['agreement', labelsPath, other, ...flags])
    const { out, code } = await compare('--runs', runsPath)
    expect(code).toBe(0)
    expect(out).toContain('7 pairs, the same on 85.7 %')
    expect(out).toMatch(/one +2 +7 +85\.7 % +0\.000/)
    expect(out).toContain('READY for A alone 1')
    expect(out).toContain(`keepready labels show one/abc --runs ${runsPath} --labels ${labelsPath} --interaction 0`)
    const { data } = { data: JSON.parse((await compare('--worst', '0', '--json')).out) }
    expect(data).toMatchObject({ table: { onlyA: 1, bothKeep: 6 }, disagreements: [], disagreeing: 1 })
  })
})
