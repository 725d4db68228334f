import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { BENCH_ROWS } from '../../models/frozen-lm/bench-record.ts'
import { packageFile } from '../../models/package-root.ts'

/** A dozen processes, a 2048^3 MatMul and a written checkpoint: a busy machine takes its time for them. */
const TIMEOUT_MS = 300_000

const folder = mkdtempSync(join(tmpdir(), 'keepready-bench-e2e-'))
afterAll(() => rmSync(folder, { recursive: true }))

function keepready(...args: readonly string[]): {
  readonly status: number | null
  readonly out: string
  readonly err: string
} {
  const { status, stdout, stderr } = spawnSync(process.execPath, [packageFile('bin', 'keepready.js'), ...args], {
    encoding: 'utf8',
  })
  return { status, out: stdout, err: stderr }
}

describe('keepready bench extract', () => {
  it(
    'measures every row in a smoke run and prints nothing but one JSON document with --json',
    () => {
      const report = join(folder, 'report')
      const { status, out, err } = keepready('bench', 'extract', '--quick', '--repeats', '1', '--json', '--out', report)
      expect(status, err).toBe(0)
      const document = JSON.parse(out)
      expect(document).toMatchObject({ bench: 'extract', quick: true, naive_equals_shared_first_bit_for_bit: true })
      const rows = new Set(document.figures.map(({ row }: { row: string }) => row))
      expect(rows).toEqual(new Set(BENCH_ROWS))
      for (const { row, value, goal, ok } of document.figures) {
        // Goals are meant for SmolLM2; peers may not be installed.
        expect([goal, ok]).toEqual([null, null])
        if (row !== 'peers') expect(value).not.toBeNull()
      }
      expect(readFileSync(join(report, 'index.html'), 'utf8')).toContain('<figure id="time"')
      expect(JSON.parse(readFileSync(join(report, 'bench.json'), 'utf8')).figures).toEqual(document.figures)
    },
    TIMEOUT_MS,
  )

  it(
    'runs without a subcommand, keeps to the rows asked for, prints a card and ends with one JSON line',
    () => {
      const { status, out, err } = keepready(
        'bench',
        '--quick',
        '--repeats',
        '1',
        '--only',
        'once',
        '--naive-views',
        '1',
      )
      expect(status, err).toBe(0)
      expect(out).toContain('arm, per checkpoint')
      expect(out).toContain('QUICK')
      const document = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '')
      expect(document.arms.map(({ key }: { key: { kind: string } }) => key.kind)).toEqual(['naive', 'once', 'once'])
      expect(err).toMatch(/bench extract: 1 repeats at layer 4/)
    },
    TIMEOUT_MS,
  )

  it.each([
    [['--repeats', '0'], 2, 'option-invalid'],
    [['--shared', '64,many'], 2, 'option-invalid'],
    [['--model', '/nowhere'], 3, 'model-not-found'],
    [['--model', 'tiny', '--layer', '99'], 3, 'layer-out-of-range'],
    [['--model', 'tiny', '--shared', '9000'], 4, 'context-too-short'],
  ])('%j exits with %i, %s', (args, exitCode, code) => {
    const { status, out, err } = keepready('bench', 'extract', ...args)
    expect(status).toBe(exitCode)
    expect(err).toContain(`[${code}]`)
    expect(out).toBe('')
  })
})
