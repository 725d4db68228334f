import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readLabels } from '../../../data/store/labels.ts'
import { writeRuns } from '../../../data/store/runs.ts'
import { createCommand as createAnnotate } from '../../../src/cli/commands/annotate.ts'
import { createCommand as createLabels } from '../../../src/cli/commands/labels.ts'
import { runOf } from '../evidence/run-of.ts'

const steps = [{ sees: 'the_word' }, { text: 'the_word' }, {}, { text: 'the_word' }, {}]

let directory = ''
let runs = ''
let labels = ''
let out = ''
let err = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keepready-annotate-'))
  runs = join(directory, 'runs.jsonl')
  labels = join(directory, 'labels.jsonl')
  await writeRuns(runs, [runOf({ id: 'a', steps }), runOf({ id: 'b', steps: steps.slice(0, 3) })])
  out = ''
  err = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += String(text)
    return true
  })
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    err += String(text)
    return true
  })
})

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = 0
})

async function annotate(...options: readonly string[]): Promise<void> {
  await createAnnotate().parseAsync([runs, '--out', labels, ...options], { from: 'user' })
}

async function stats(...options: readonly string[]): Promise<void> {
  await createLabels().parseAsync(['stats', runs, labels, ...options], { from: 'user' })
}

describe('keepready annotate', () => {
  it('labels every run and ends with a figure on stderr and the next command on stdout', async () => {
    await annotate('--annotator', 'lineage')
    expect(process.exitCode).toBe(0)
    const rows = await readLabels(labels)
    expect(rows.map((row) => [row.trajectory, row.annotator, row.labels[0]?.boundary])).toEqual([
      ['a', 'lineage', 4],
      ['b', 'lineage', 2],
    ])
    expect(err).toMatch(/^annotate: 2 runs, 7 pairs, 28\.6 % READY/)
    expect(out).toContain(`keepready labels stats ${runs} ${labels}`)
  })

  it('passes the options of the rule on and says so in the rows', async () => {
    await annotate('--restated', 'excuse', '--any-literal', '--json')
    expect(JSON.parse(out)).toMatchObject({ annotator: 'lineage+restated-excuse+any-literal', runs: 2, pairs: 7 })
    expect((await readLabels(labels))[0]?.labels[0]?.boundary).toBe(2)
  })

  it('refuses an annotator that does not exist with exit code 2', async () => {
    await annotate('--annotator', 'guess')
    expect(process.exitCode).toBe(2)
    expect(err).toContain('[option-invalid]')
    expect(err).toContain('lineage')
  })

  it('shows an example in its help', () => {
    expect(helpOf(createAnnotate())).toContain('$ keepready annotate runs.jsonl')
  })
})

describe('keepready labels stats', () => {
  it('prints tables for a person and one document with --json', async () => {
    await annotate()
    out = ''
    await stats()
    expect(out).toContain('2 runs, 8 interactions, labelled by lineage')
    out = ''
    await stats('--json')
    expect(JSON.parse(out)).toMatchObject({ runs: 2, all: { pairs: 7, ready: 2 } })
  })

  it('refuses labels of other runs with exit code 2', async () => {
    await annotate()
    await writeRuns(runs, [runOf({ id: 'a', steps: steps.slice(0, 3) })])
    await stats()
    expect(process.exitCode).toBe(2)
    expect(err).toContain('[labels-mismatch]')
  })

  it('shows an example in the help of both levels', () => {
    const labelsCommand = createLabels()
    expect(helpOf(labelsCommand)).toContain('$ keepready labels stats runs.jsonl labels.jsonl')
    for (const child of labelsCommand.commands) expect(helpOf(child)).toContain(`$ keepready labels ${child.name()} `)
  })
})

function helpOf(command: ReturnType<typeof createLabels>): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text) })
  command.outputHelp()
  return help
}
