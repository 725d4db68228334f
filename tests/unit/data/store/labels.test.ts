import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { annotateLineage } from '../../../../data/annotate/lineage.ts'
import { type FileSeam, nodeFiles } from '../../../../data/store/file-seam.ts'
import { readLabels, writeLabels } from '../../../../data/store/labels.ts'
import { runOf } from '../../evidence/run-of.ts'

const STEPS = [{ sees: 'the_word' }, { text: 'the_word' }, {}]
const ROWS = ['one', 'two'].map((id) => annotateLineage(runOf({ id, steps: STEPS })))

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keepready-labels-'))
})

describe('labels.jsonl', () => {
  it('returns the rows that were written, in a file of its owner alone', async () => {
    const path = join(directory, 'new', 'labels.jsonl')
    await writeLabels(path, ROWS)
    expect(await readLabels(path)).toEqual(ROWS)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('says file-not-found and how to make the file', async () => {
    await expect(readLabels(join(directory, 'none.jsonl'))).rejects.toMatchObject({
      code: 'file-not-found',
      message: expect.stringContaining('keepready annotate'),
    })
  })

  const row = ROWS[0]
  const label = row?.labels[0]
  const BAD: readonly (readonly [string, string, string])[] = [
    ['a line that is no JSON', '{"schemaVersion": 1, "traj', 'no whole JSON record'],
    [
      'another schema version',
      JSON.stringify({ ...row, schemaVersion: 2 }),
      'schemaVersion is 2, this program reads 1',
    ],
    ['an unknown key', JSON.stringify({ ...row, extra: 1 }), 'extra'],
    ['a missing field', JSON.stringify({ ...row, annotator: undefined }), 'annotator'],
    [
      'a boundary at which the interaction is the newest',
      JSON.stringify({ ...row, labels: [{ ...label, boundary: 1 }] }),
      'must be at least 2',
    ],
    ['labels out of order', JSON.stringify({ ...row, labels: [label, label] }), 'must be above 0'],
    ['an empty quote', JSON.stringify(row).replace('"quote":"the_word"', '"quote":""'), 'quote'],
  ]
  for (const [name, line, problem] of BAD) {
    it(`says rows-invalid with the line for ${name}`, async () => {
      const path = join(directory, 'labels.jsonl')
      await writeFile(path, `${JSON.stringify(ROWS[1])}\n${line}\n`)
      await expect(readLabels(path)).rejects.toMatchObject({
        code: 'rows-invalid',
        message: expect.stringMatching(new RegExp(`line 2 .*${problem}`)),
      })
    })
  }

  it('refuses a run that stands twice and a file without rows', async () => {
    const path = join(directory, 'labels.jsonl')
    await writeFile(path, `${JSON.stringify(row)}\n${JSON.stringify(row)}\n`)
    await expect(readLabels(path)).rejects.toThrow('"one" stands on line 1 too')
    await writeFile(path, '\n')
    await expect(readLabels(path)).rejects.toThrow('holds no row of labels')
  })

  it('keeps the old file when the disk is full', async () => {
    const path = join(directory, 'labels.jsonl')
    await writeLabels(path, ROWS)
    const before = await readFile(path)
    const full: FileSeam = {
      ...nodeFiles,
      async create(name) {
        const sink = await nodeFiles.create(name)
        return { ...sink, write: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })) }
      },
    }
    await expect(writeLabels(path, ROWS.slice(1), full)).rejects.toMatchObject({ code: 'disk-full' })
    expect(await readFile(path)).toEqual(before)
    expect(await readdir(directory)).toEqual(['labels.jsonl'])
  })
})
