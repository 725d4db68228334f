/**
 * What logs say about their own runs: read, kept with the run, and read by nothing that makes labels.
 */
import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { annotateLineage } from '../../../../data/annotate/lineage.ts'
import { readRuns, writeRuns } from '../../../../data/store/runs.ts'
import type { Trajectory } from '../../../../src/trajectory/trajectory.ts'
import { importText, jsonLines, only, withFolder } from '../../../fixtures/import-log.ts'

const message = (role: string, text: string, more: object = {}): object => ({
  type: 'message',
  message: { role, content: [{ type: 'text', text }] },
  ...more,
})
const header = { type: 'session', id: 's-1', cwd: '/work' }

async function whoAndWhen(step: unknown): Promise<Trajectory> {
  const history = [{ role: 'a', content: 'x' }, 'damaged', { role: 'b', content: 'y' }]
  return only(await importText('1.json', JSON.stringify({ question: 'q', history, mistake_step: step })))
}

describe('marks of a log', () => {
  it('are the compactions of a pi session: when, and from which interaction on it kept', async () => {
    const log = jsonLines(
      header,
      message('user', 'go'),
      message('assistant', 'one'),
      message('assistant', 'two'),
      message('assistant', 'three'),
      { type: 'compaction', summary: 'so far', firstKeptEntryIndex: 3, tokensBefore: 9 },
      message('assistant', 'four'),
    )
    expect(only(await importText('s.jsonl', log)).marks).toEqual([{ kind: 'compaction', before: 3, keptFrom: 1 }])
  })

  it('name the first kept record by its id in later versions', async () => {
    const log = jsonLines(
      { ...header, version: 3 },
      message('user', 'go', { id: 'u', parentId: null }),
      message('assistant', 'one', { id: 'a', parentId: 'u' }),
      message('assistant', 'two', { id: 'b', parentId: 'a' }),
      { type: 'compaction', id: 'c', parentId: 'b', summary: 'so far', firstKeptEntryId: 'b', tokensBefore: 9 },
      message('assistant', 'three', { id: 'd', parentId: 'c' }),
    )
    expect(only(await importText('s.jsonl', log)).marks).toEqual([{ kind: 'compaction', before: 2, keptFrom: 1 }])
  })

  it('are left out where the log names a record that is not there', async () => {
    const log = jsonLines(header, message('user', 'go'), message('assistant', 'one'), {
      type: 'compaction',
      summary: 'so far',
      firstKeptEntryIndex: 99,
    })
    expect(only(await importText('s.jsonl', log)).marks).toBeUndefined()
  })

  it('are the mistake step of a Who&When run, as an interaction', async () => {
    expect((await whoAndWhen('2')).marks).toEqual([{ kind: 'mistake', interaction: 1 }])
    expect((await whoAndWhen(0)).marks).toEqual([{ kind: 'mistake', interaction: 0 }])
    for (const step of ['1', '', 'last', 1.5, null, 7]) expect((await whoAndWhen(step)).marks).toBeUndefined()
  })

  it('come back from runs.jsonl, and are refused when they point past the run', async () => {
    const run = await whoAndWhen('2')
    await withFolder({}, async (folder) => {
      const path = `${folder}/runs.jsonl`
      await writeRuns(path, [run])
      expect(await readRuns(path)).toEqual([run])
      for (const mark of [
        { kind: 'mistake', interaction: 2 },
        { kind: 'compaction', before: 3, keptFrom: 0 },
        { kind: 'compaction', before: 1, keptFrom: 2 },
        { kind: 'other', interaction: 0 },
      ]) {
        writeFileSync(path, `${JSON.stringify({ ...run, marks: [mark] })}\n`)
        await expect(readRuns(path)).rejects.toMatchObject({ code: 'rows-invalid' })
      }
    })
  })

  it('change no label', async () => {
    const { marks, ...bare } = await whoAndWhen('2')
    expect(marks?.length).toBe(1)
    expect(annotateLineage(await whoAndWhen('2'))).toEqual(annotateLineage(bare))
  })
})
