import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../models/package-root.ts'
import { GENERATED_FORMATS, generateLog } from '../../src/cli/bench-import-logs.ts'
import { importText } from '../fixtures/import-log.ts'

describe('keepready bench import', () => {
  it('prints MB per second of each format and ends with one JSON document', () => {
    const args = ['bench', 'import', '--megabytes', '1', '--rounds', '1']
    const { status, stdout, stderr } = spawnSync(process.execPath, [packageFile('bin', 'keepready.js'), ...args], {
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
    const document = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
    expect(document.bench).toBe('import')
    const formats = document.formats.map(({ format }: { format: string }) => format)
    for (const format of [...GENERATED_FORMATS, 'tau-bench', 'swe-agent', 'who-and-when'])
      expect(formats).toContain(format)
    for (const figure of document.figures) expect(figure.value).toBeGreaterThan(0)
    const judged = document.figures.filter(({ goal }: { goal: number | null }) => goal === 50)
    expect(judged).toHaveLength(GENERATED_FORMATS.length)
    for (const { ok, value } of judged) expect(ok).toBe(value >= 50)
  }, 60_000)

  it.each(GENERATED_FORMATS)('makes %s logs that import without a complaint, the same for one seed', async (format) => {
    const text = [...generateLog(format, 100_000, 7)].join('')
    expect([...generateLog(format, 100_000, 7)].join('')).toBe(text)
    expect([...generateLog(format, 100_000, 8)].join('')).not.toBe(text)
    const { files, trajectories } = await importText('made.jsonl', text)
    expect(files[0]).toMatchObject({ format, damage: [], error: null })
    expect(files[0]?.interactions).toBeGreaterThanOrEqual(30)
    const [first] = trajectories
    expect(first?.interactions[0]?.observations).toHaveLength(1)
  })
})
