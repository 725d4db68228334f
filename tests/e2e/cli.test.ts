/**
 * The command line as a whole, compiled: help, streams, exit codes. Ctrl-C and killed runs: extract-interrupted.test.ts;
 * the server: serve.test.ts. `npm test` builds dist first.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERROR_FAMILY, EXIT_CODE } from '../../src/errors.ts'
import { makeChatLogs, requestBody } from '../fixtures/chat-logs.ts'
import { type Finished, runCommand } from '../fixtures/run-command.ts'

const COMMANDS = [
  'demo',
  'import',
  'annotate',
  'labels stats',
  'extract',
  'train',
  'sweep',
  'study',
  'evaluate',
  'serve',
  'score',
  'plan',
  'compact',
  'validate',
  'bench extract',
]

let home: string
const file = (...path: readonly string[]): string => join(home, ...path)
const [log] = makeChatLogs({ groups: 1, runsPerGroup: 1, steps: 12, seed: 9, words: 120 })
const history = log === undefined ? '' : requestBody(log)

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'keepready-cli-'))
  mkdirSync(file('logs'))
  for (const [n, one] of makeChatLogs({ groups: 12, runsPerGroup: 1, steps: 7, seed: 8 }).entries())
    writeFileSync(file('logs', `${n}.json`), one.format === 'openai-chat' ? `[${one.messages}]` : requestBody(one))
  writeFileSync(file('history.json'), history)
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** One stage of the pipeline with --json: its exit code, and its document. */
async function stage(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'])
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as Record<string, unknown>
}

describe('--help', () => {
  it('of every command holds an example of it, and the options that all share', async () => {
    const helps = await Promise.all(COMMANDS.map((command) => runCommand([...command.split(' '), '--help'])))
    for (const [n, { code, stdout, stderr }] of helps.entries()) {
      const command = COMMANDS[n] ?? ''
      expect([code, stderr], command).toEqual([0, ''])
      expect(stdout, command).toContain(`Usage: keepready ${command}`)
      expect(stdout, command).toMatch(new RegExp(`\nExamples?:\n  \\$ keepready ${command}`))
      expect(stdout, command).toContain('--json')
      expect(stdout, command).toContain('--seed')
    }
  })

  it('of keepready names every command', async () => {
    const { stdout } = await runCommand(['--help'])
    for (const command of COMMANDS) expect(stdout).toContain(`\n  ${command.split(' ')[0]} `)
  })
})

describe('the pipeline with --json', { timeout: 180_000 }, () => {
  it('prints one JSON document on stdout at every stage, from logs to a compacted history', async () => {
    const runs = file('runs.jsonl')
    const labels = file('labels.jsonl')
    await stage('import', file('logs'), '--out', runs)
    await stage('annotate', runs, '--annotator', 'lineage', '--out', labels)
    await stage('labels', 'stats', runs, labels)
    const dataset = ['--view-budget', '128', '--max-checkpoints-per-run', '3', '--out', file('dataset')]
    await stage('extract', runs, '--labels', labels, ...dataset)
    const small = ['--inputs', 'evidence', '--width', '8', '--epochs', '2', '--min-future', '1']
    await stage('train', file('dataset'), '--out', file('router'), ...small)
    await stage('evaluate', file('dataset'), '--router', file('router'), '--out', file('report'), '--bootstrap', '100')
    const asked = ['--format', 'openai-chat', '--router', file('router'), '--operating-point', 'fixed']
    const score = await stage('score', file('history.json'), ...asked)
    expect(score).toMatchObject({ representation_id: null, operating_point: 'fixed' })
    await stage('plan', file('history.json'), ...asked)
    const compacted = await runCommand(['compact', file('history.json'), ...asked, '--json'])
    expect(JSON.parse(compacted.stdout)).toMatchObject({ base_hash: score.base_hash })
    expect(await stage('validate', file('history.json'), '--format', 'openai-chat')).toMatchObject({ valid: true })
  })

  it('of the commands that read a history takes it from stdin too, and keeps the outcome off stdout', async () => {
    const args = ['compact', '-', '--format', 'openai-chat', '--router', file('router'), '--operating-point', 'fixed']
    const { code, stdout, stderr } = await runCommand(args, { input: history })
    expect(code).toBe(0)
    expect(Array.isArray(JSON.parse(stdout))).toBe(true)
    expect(stderr).toMatch(/^outcome: (applied|noop)/m)
  })
})

describe('errors', () => {
  const cases: readonly (readonly [string, readonly string[], keyof typeof ERROR_FAMILY])[] = [
    ['an unknown command', ['frobnicate'], 'option-invalid'],
    ['an unknown option', ['train', 'x', '--out', 'y', '--widht', '3'], 'option-invalid'],
    ['a missing option', ['extract', 'runs.jsonl'], 'option-invalid'],
    ['a file that is not there', ['annotate', '/nowhere.jsonl', '--out', '/tmp/x'], 'file-not-found'],
    ['a folder in place of a file', ['validate', '/', '--format', 'openai-chat'], 'file-unreadable'],
    ['a port that is none', ['serve', '--router', '/nowhere', '--port', '99999'], 'option-invalid'],
    ['a pin of no kind', ['score', '/', '--format', 'openai-chat', '--router', '/', '--pin', 'x'], 'option-invalid'],
    [
      'a model that is not there',
      ['extract', '/nowhere', '--labels', '/nowhere', '--out', '/tmp/x', '--model', '/nowhere'],
      'model-not-found',
    ],
    ['a router directory that holds none', ['serve', '--router', tmpdir()], 'router-invalid'],
  ]

  it.each(cases)('of %s: exit code of the family, one line with the code, nothing on stdout', async (_, args, code) => {
    const { code: exit, stdout, stderr } = await runCommand(args)
    expect(stderr).toMatch(new RegExp(`^keepready: .+ \\[${code}\\]\n$`))
    expect(exit).toBe(EXIT_CODE[ERROR_FAMILY[code]])
    expect(stdout).toBe('')
  })

  it('with --json are one document on stdout beside the line on stderr', async () => {
    for (const args of [
      ['validate', '/nowhere', '--format', 'openai-chat'],
      ['train', '--nothing'],
    ]) {
      const { stdout, stderr } = await runCommand([...args, '--json'])
      const { error } = JSON.parse(stdout) as { error: { code: string; message: string } }
      expect(stderr).toBe(`keepready: ${error.message} [${error.code}]\n`)
    }
  })

  it('of single files let the batch go on: exit code 1, the good ones written', async () => {
    writeFileSync(file('logs', 'broken.json'), '{"not": "a log"')
    const result: Finished = await runCommand(['import', file('logs'), '--out', file('some.jsonl'), '--json'])
    rmSync(file('logs', 'broken.json'))
    expect(result.code).toBe(1)
    expect(JSON.stringify(JSON.parse(result.stdout))).toContain('broken.json')
    expect(readFileSync(file('some.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(12)
  })
})
