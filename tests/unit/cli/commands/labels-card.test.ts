import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseHTML } from 'linkedom'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { annotateLineage } from '../../../../data/annotate/lineage.ts'
import { writeLabels } from '../../../../data/store/labels.ts'
import { writeRuns } from '../../../../data/store/runs.ts'
import { packageFile } from '../../../../models/package-root.ts'
import { createCommand } from '../../../../src/cli/commands/labels.ts'
import { replaceCard } from '../../../../src/cli/label-card.ts'
import { type Outcome, runInProcess } from '../../../fixtures/run-in-process.ts'
import { runOf } from '../../evidence/run-of.ts'

const steps = Array.from({ length: 30 }, (_, i) =>
  i % 3 === 0 ? { sees: `word_${i}` } : { text: `word_${i - (i % 3)}` },
)
const runs = [
  { ...runOf({ id: 'a', domain: 'one', steps }), marks: [{ kind: 'mistake' as const, interaction: 3 }] },
  runOf({ id: 'b', domain: 'a|<b>', steps }),
]
const MARKS =
  '<!-- card:begin, made by `keepready labels card`: do not edit between these two lines -->\nold\n<!-- card:end -->'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-card-'))
  await writeRuns(join(folder, 'runs.jsonl'), runs)
  await writeLabels(
    join(folder, 'labels.jsonl'),
    runs.map((run) => annotateLineage(run)),
  )
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function card(...flags: readonly string[]): Promise<Outcome> {
  return runInProcess(createCommand(), ['card', join(folder, 'runs.jsonl'), join(folder, 'labels.jsonl'), ...flags])
}

describe('keepready labels card', () => {
  it('prints tables per source, and what the logs say beside them', async () => {
    const { out, code } = await card()
    expect(code).toBe(0)
    expect(out).toContain('Labels by lineage: 2 runs, 60 interactions, 812 pairs.')
    expect(out).toMatch(/\| one \| 1 \| 406 \| \d+\.\d % \|/)
    expect(out).toContain('a\\|<b>')
    expect(out).toMatch(/\| one \| 1 in 1 runs \| \d+\.\d % \(\d+\.\d %\) of 25 \|/)
    expect(out).toContain('(no write call in these runs)')
    expect(JSON.parse((await card('--json')).out).curves.length).toBe(3)
  })

  it('replaces the text between the marks of a document and draws the figure beside it', async () => {
    const path = join(folder, 'doc.md')
    await writeFile(path, `before\n${MARKS}\nafter\n`)
    await card('--into', path)
    const text = await readFile(path, 'utf8')
    expect(text).toMatch(/^before\n<!-- card:begin[^\n]*\n\nLabels by lineage[\s\S]*\n\n<!-- card:end -->\nafter\n$/)
    expect(text).toContain('](doc-card.svg)')
    await card('--into', path)
    expect(await readFile(path, 'utf8')).toBe(text)
    const svg = await readFile(join(folder, 'doc-card.svg'), 'utf8')
    const { document } = parseHTML(svg)
    expect(document.querySelectorAll('svg svg').length).toBe(3)
    expect(svg).toContain('a|&lt;b&gt;')
    expect(svg).not.toMatch(/NaN|undefined|<b>/)
  })

  it('refuses a document without marks and writes nothing', async () => {
    const path = join(folder, 'doc.md')
    await writeFile(path, 'no marks')
    expect((await card('--into', path)).err).toContain('[option-invalid]')
    expect(await readFile(path, 'utf8')).toBe('no marks')
  })

  it('has its place in docs/labels.md', async () => {
    expect(replaceCard(await readFile(packageFile('docs', 'labels.md'), 'utf8'), 'x')).not.toBeNull()
  })
})
