import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../models/package-root.ts'

/** A 2048^3 MatMul is part of every run; a busy machine takes its time for it. */
const TIMEOUT_MS = 180_000

const SMALL = ['--model', 'tiny', '--shared', '48', '--targets', '2', '--target-tokens', '16', '--rounds', '1']

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

describe('keepready bench', () => {
  it(
    'runs extract without a subcommand, prints a table and ends with one JSON document',
    () => {
      const { status, out, err } = keepready('bench', ...SMALL)
      expect(status, err).toBe(0)
      const lines = out.trimEnd().split('\n')
      expect(out).toContain('peak RSS MB')
      const document = JSON.parse(lines.at(-1) ?? '')
      expect(document).toMatchObject({ bench: 'extract', layer: 4, rounds: 1, naive_equals_shared_bit_for_bit: true })
      expect(document.figures.map(({ name }: { name: string }) => name)).toEqual([
        'shared-prefix speed-up over naive views',
        'prefill share of 2048^3 MatMul rate',
        'peak RSS of shared-prefix, MB',
        'peak RSS of naive, MB',
        'peak RSS of full-context, MB',
        'ms per checkpoint, shared-prefix',
        'ms per checkpoint, naive',
        'ms per checkpoint, full-context',
      ])
      for (const figure of document.figures) {
        expect(figure.value).toBeGreaterThan(0)
        // Goals are meant for the SmolLM2 shape: on another model nothing is judged.
        expect([figure.goal, figure.ok]).toEqual([null, null])
      }
      expect(err).toMatch(/bench extract: 1 rounds at layer 4/)
    },
    TIMEOUT_MS,
  )

  it(
    'prints nothing but the document with --json',
    () => {
      const { status, out } = keepready('bench', 'extract', ...SMALL, '--json')
      expect(status).toBe(0)
      expect(JSON.parse(out).bench).toBe('extract')
    },
    TIMEOUT_MS,
  )

  it.each([
    [['--rounds', '0'], 2, 'option-invalid'],
    [['--shared', 'many'], 2, 'option-invalid'],
    [['--model', '/nowhere'], 3, 'model-not-found'],
    [['--model', 'tiny', '--layer', '99'], 3, 'layer-out-of-range'],
    [['--model', 'tiny', '--shared', '9000', '--rounds', '1'], 4, 'context-too-short'],
  ])('%j exits with %i, %s', (args, exitCode, code) => {
    const { status, out, err } = keepready('bench', 'extract', ...args)
    expect(status).toBe(exitCode)
    expect(err).toContain(`[${code}]`)
    expect(out).toBe('')
  })
})
