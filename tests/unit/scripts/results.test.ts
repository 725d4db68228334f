import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { COMPARISONS, EXPERIMENTS } from '../../../scripts/results/experiments.ts'
import { insertTables } from '../../../scripts/results/insert-tables.ts'
import { runStage, type Stage } from '../../../scripts/results/stages.ts'

const work = mkdtempSync(join(tmpdir(), 'keepready-results-'))
afterAll(() => rmSync(work, { recursive: true }))

describe('insertTables', () => {
  const page = 'before\n<!-- results:a -->\nold\n<!-- /results:a -->\nafter\n'

  it('replaces what stands between the markers of a table, and nothing else', () => {
    const once = insertTables(page, { a: 'new' })
    expect(once).toBe('before\n<!-- results:a -->\nnew\n<!-- /results:a -->\nafter\n')
    expect(insertTables(once, { a: 'new' })).toBe(once)
  })

  it('names the markers that a page lacks', () => {
    expect(() => insertTables(page, { b: 'new' })).toThrow('<!-- results:b -->')
  })
})

describe('a stage', () => {
  const stage = (args: readonly string[]): Stage => ({ name: 's', args, inputs: [join(work, 'in')], output: 'out' })

  it('runs once for its arguments and the bytes of its inputs', async () => {
    writeFileSync(join(work, 'in'), '1')
    writeFileSync(join(work, 'out'), '')
    expect(await runStage(work, stage(['--version']))).toBeGreaterThan(0)
    expect(await runStage(work, stage(['--version']))).toBeNull()
    writeFileSync(join(work, 'in'), '2')
    expect(await runStage(work, stage(['--version']))).toBeGreaterThan(0)
    rmSync(join(work, 'out'))
    expect(await runStage(work, stage(['--version']))).toBeGreaterThan(0)
  })

  it('that fails is not done', async () => {
    writeFileSync(join(work, 'out'), '')
    for (let time = 0; time < 2; time++)
      await expect(runStage(work, stage(['no-such-command']))).rejects.toThrow('stage s ended with exit code 2')
  })
})

describe('the experiments', () => {
  it('have names of their own, and comparisons name existing ones of the same runs', () => {
    const names = EXPERIMENTS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const { of } of COMPARISONS) {
      const compared = EXPERIMENTS.filter(({ name }) => of.includes(name))
      expect(compared).toHaveLength(of.length)
      expect(new Set(compared.map(({ runs, checkpoints }) => `${runs} ${checkpoints}`)).size).toBe(1)
    }
  })
})
