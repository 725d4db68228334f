import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../models/package-root.ts'
import { TRAIN_BENCH_ROWS } from '../../training/bench/bench-record.ts'

describe('keepready bench train', () => {
  it('measures every row in a smoke run and ends with one JSON document', () => {
    const args = [packageFile('bin', 'keepready.js'), 'bench', 'train', '--quick', '--repeats', '1']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const document = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
    expect(document.bench).toBe('train')
    const figures: { row: string; name: string; value: number | null; goal: null; note: string | null }[] =
      document.figures
    expect([...new Set(figures.map(({ row }) => row))]).toEqual([...TRAIN_BENCH_ROWS])
    // Nothing is judged at this size; what is missing says why.
    for (const { goal, value, note, name } of figures) {
      expect(goal, name).toBeNull()
      if (value === null) expect(note, name).toMatch(/^unavailable: |does not say/)
    }
    expect(document.scoring[0].difference).toBeLessThan(1e-4)
    expect(document.jobs.map(({ recipe }: { recipe: string }) => recipe)).toEqual(['once', 'shared-first'])
  }, 240_000)

  it('names a row that it does not have', () => {
    const args = [packageFile('bin', 'keepready.js'), 'bench', 'train', '--only', 'speed']
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status).toBe(2)
    expect(stderr).toContain('engines, schemes, job, scoring, memory, metrics')
  })
})
