import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ImportResult, importFiles } from '../../../../data/import/import-files.ts'
import { fixturePath, importText, jsonLines, withFolder } from '../../../fixtures/import-log.ts'

const entry = (id: string, parentId: string | null, role: string, text: string): object => ({
  type: 'message',
  id,
  parentId,
  message: { role, content: [{ type: 'text', text }], stopReason: 'stop' },
})
const HEADER = { type: 'session', version: 3, id: 'p', cwd: '/w' }

const importBranches = (text: string): Promise<ImportResult> =>
  withFolder({ 's.jsonl': text }, (folder) => importFiles([folder], { allBranches: true }))

const texts = (result: ImportResult): unknown =>
  result.trajectories.map((run) => [run.id, run.interactions.map((one) => one.text)])

describe('branches of a pi session', () => {
  it('are counted by default, and runs of their own with --all-branches', async () => {
    const log = readFileSync(fixturePath('pi-v3.jsonl'), 'utf8')
    const live = await importText('s.jsonl', log)
    expect(live.files[0]).toMatchObject({ runs: 1, ignored: { 'message of a dead branch': 1 } })
    const all = await importBranches(log)
    const id = 'pi/aaaaaaaa-2222-3333-4444-555555555555'
    expect(texts(all)).toEqual([
      [id, ['', 'Here they are.']],
      [`${id}~branch2`, ['', 'abandoned answer']],
    ])
    expect(new Set(all.trajectories.map((run) => run.group)).size).toBe(1)
  })

  it('are none in a linear session', async () => {
    const result = await importBranches(readFileSync(fixturePath('pi-v1.jsonl'), 'utf8'))
    expect(result.trajectories).toHaveLength(1)
  })
})

describe('a damaged pi tree', () => {
  it('of a circle keeps what leads to it and says where', async () => {
    const log = jsonLines(HEADER, entry('a', 'b', 'user', 'go'), entry('b', 'a', 'assistant', 'one'))
    const result = await importText('s.jsonl', log)
    expect(texts(result)).toEqual([['pi/p', ['one']]])
    expect(result.files[0]?.damage).toEqual([{ line: 3, reason: expect.stringContaining('circle') }])
  })

  it('of an id that stands twice keeps both, and a link means the nearest one above', async () => {
    const log = jsonLines(
      HEADER,
      entry('a', null, 'user', 'go'),
      entry('b', 'a', 'assistant', 'one'),
      entry('b', 'b', 'assistant', 'two'),
      entry('c', 'b', 'assistant', 'three'),
    )
    const result = await importText('s.jsonl', log)
    expect(texts(result)).toEqual([['pi/p', ['one', 'two', 'three']]])
    expect(result.files[0]?.damage).toEqual([{ line: 4, reason: 'id b stands on line 3 too: both are kept' }])
  })

  it('of a missing parent goes on with the record before it and reports it', async () => {
    const log = jsonLines(HEADER, entry('a', null, 'user', 'go'), entry('b', 'lost', 'assistant', 'one'))
    const result = await importText('s.jsonl', log)
    expect(texts(result)).toEqual([['pi/p', ['one']]])
    expect(result.trajectories[0]?.task).toBe('go')
    expect(result.files[0]?.damage).toHaveLength(1)
  })
})
