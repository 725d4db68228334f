import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type FileSeam, nodeFiles } from '../../../../data/store/file-seam.ts'
import { readRuns, writeRuns } from '../../../../data/store/runs.ts'
import type { Trajectory } from '../../../../src/trajectory/trajectory.ts'
import { importFixture, withFolder } from '../../../fixtures/import-log.ts'

const runs = async (): Promise<readonly Trajectory[]> => (await importFixture('claude-code-v2.jsonl')).trajectories

/** Writes one row with a change and reads it back. */
async function readChanged(change: (row: Record<string, unknown>) => unknown): Promise<readonly Trajectory[]> {
  const [run] = await runs()
  return withFolder({}, async (folder) => {
    const row: Record<string, unknown> = JSON.parse(JSON.stringify(run))
    writeFileSync(
      `${folder}/runs.jsonl`,
      `${JSON.stringify(run)}\n${JSON.stringify(change({ ...row, id: 'other' }))}\n`,
    )
    return readRuns(`${folder}/runs.jsonl`)
  })
}

describe('runs.jsonl', () => {
  it('comes back as it was written', async () => {
    const written = await runs()
    await withFolder({}, async (folder) => {
      await writeRuns(`${folder}/deep/runs.jsonl`, written)
      expect(await readRuns(`${folder}/deep/runs.jsonl`)).toEqual(written)
    })
  })

  it('is readable by its owner alone', async () => {
    await withFolder({}, async (folder) => {
      await writeRuns(`${folder}/runs.jsonl`, await runs())
      expect(statSync(`${folder}/runs.jsonl`).mode & 0o777).toBe(0o600)
    })
  })

  it('leaves the old file whole when the disk fills up', async () => {
    const written = await runs()
    await withFolder({ 'runs.jsonl': 'old' }, async (folder) => {
      const full: FileSeam = {
        ...nodeFiles,
        create: async (path) => ({
          ...(await nodeFiles.create(path)),
          write: () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
        }),
      }
      await expect(writeRuns(`${folder}/runs.jsonl`, written, full)).rejects.toMatchObject({ code: 'disk-full' })
      expect(readFileSync(`${folder}/runs.jsonl`, 'utf8')).toBe('old')
    })
  })

  it('says that it cannot write where no folder can be made', async () => {
    const written = await runs()
    await withFolder({ file: 'x' }, async (folder) => {
      await expect(writeRuns(`${folder}/file/runs.jsonl`, written)).rejects.toMatchObject({ code: 'file-unreadable' })
    })
  })

  it('names the line and the field of a row that is not valid', async () => {
    await expect(readChanged((row) => ({ ...row, task: 7 }))).rejects.toMatchObject({
      code: 'rows-invalid',
      message: expect.stringMatching(/line 2 .*task/),
      details: { line: 2 },
    })
  })

  it.each([
    ['an unknown key', (row: Record<string, unknown>) => ({ ...row, extra: 1 })],
    ['another version', (row: Record<string, unknown>) => ({ ...row, schemaVersion: 2 })],
    ['an id that stands twice', (row: Record<string, unknown>) => ({ ...row, id: 'claude-code/sess-2' })],
    ['no interaction', (row: Record<string, unknown>) => ({ ...row, interactions: [] })],
    [
      'turns out of order',
      (row: Record<string, unknown>) => ({ ...row, turns: [...(row.turns as unknown[])].reverse() }),
    ],
    ['a list instead of a row', () => []],
  ])('refuses %s', async (_, change) => {
    await expect(readChanged(change)).rejects.toMatchObject({ code: 'rows-invalid' })
  })

  it('refuses interactions whose index is not their position', async () => {
    const shifted = readChanged((row) => ({
      ...row,
      interactions: (row.interactions as unknown[]).slice(1),
      turns: [],
    }))
    await expect(shifted).rejects.toThrow('interactions.0.index: must be 0')
  })

  it('refuses a torn file and an empty one with rows-invalid, and a missing one with file-not-found', async () => {
    await withFolder({ 'torn.jsonl': '{"schemaVersion":1,"id"', 'empty.jsonl': '\n' }, async (folder) => {
      await expect(readRuns(`${folder}/torn.jsonl`)).rejects.toMatchObject({ code: 'rows-invalid' })
      await expect(readRuns(`${folder}/empty.jsonl`)).rejects.toMatchObject({ code: 'rows-invalid' })
      await expect(readRuns(`${folder}/none.jsonl`)).rejects.toMatchObject({ code: 'file-not-found' })
    })
  })
})
