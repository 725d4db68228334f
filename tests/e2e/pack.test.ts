/**
 * The package as a stranger gets it: packed, unpacked into an empty directory outside the repository, beside nothing but
 * its production dependencies (linked from here, so that no network is needed), and run.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../models/package-root.ts'

const home = mkdtempSync(join(tmpdir(), 'keepready-pack-'))
const installed = join(home, 'node_modules', 'keepready')
const bin = join(installed, 'bin', 'keepready.js')

const run = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [bin, ...args], { cwd: home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

beforeAll(() => {
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', home], {
    cwd: packageFile('.'),
    stdio: 'ignore',
  })
  const manifest = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', `keepready-${manifest.version}.tgz`, '-C', installed, '--strip-components=1'], {
    cwd: home,
  })
  linkProductionDependencies()
})

afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('the packed package', () => {
  it('holds the embedded model and the sample logs', () => {
    expect(existsSync(join(installed, 'models/tiny/model.safetensors'))).toBe(true)
    expect(existsSync(join(installed, 'models/tiny/MODEL_CARD.md'))).toBe(true)
    expect(existsSync(join(installed, 'data/samples/README.md'))).toBe(true)
    expect(existsSync(join(installed, 'LICENSE'))).toBe(true)
  })

  it('prints its help with every command', () => {
    const help = run('--help')
    for (const command of ['import', 'annotate', 'extract', 'train', 'evaluate', 'serve', 'demo'])
      expect(help).toContain(command)
  })

  it('validates a history from an empty directory', () => {
    writeFileSync(join(home, 'history.json'), JSON.stringify([{ role: 'user', content: 'hello' }]))
    const result = JSON.parse(run('validate', 'history.json', '--format', 'openai-chat', '--json')) as {
      valid: boolean
    }
    expect(result.valid).toBe(true)
  })

  it('extracts hidden states of a sample log with the embedded model', () => {
    const samples = join(installed, 'data', 'samples')
    run('import', join(samples, 'tau-bench'), '--out', 'runs.jsonl')
    run('annotate', 'runs.jsonl', '--annotator', 'lineage', '--out', 'labels.jsonl')
    run(
      'extract',
      'runs.jsonl',
      '--labels',
      'labels.jsonl',
      '--model',
      'tiny',
      '--view-budget',
      '256',
      '--max-checkpoints-per-run',
      '1',
      '--out',
      'dataset',
    )
    expect(existsSync(join(home, 'dataset', 'manifest.json'))).toBe(true)
  }, 120_000)
})

/** Links each top-level package of the lock that is not development-only. */
function linkProductionDependencies(): void {
  const lock = JSON.parse(readFileSync(packageFile('package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; devOptional?: boolean }>
  }
  for (const [path, entry] of Object.entries(lock.packages)) {
    const name = path.match(/^node_modules\/((@[^/]+\/)?[^/]+)$/)?.[1]
    if (name === undefined || entry.dev === true || !existsSync(packageFile('node_modules', name))) continue
    const link = join(home, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(packageFile('node_modules', name), link)
  }
}
