import { existsSync } from 'node:fs'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PROMPTS_SHA256 } from '../../../data/annotate/llm/prompts/prompts.ts'
import { readLabels } from '../../../data/store/labels.ts'
import { writeRuns } from '../../../data/store/runs.ts'
import { createCommand } from '../../../src/cli/commands/annotate.ts'
import { annotatedRun, RIGHT_BOUNDARIES } from '../../fixtures/annotated-runs.ts'
import { readAsked, rightAnswer } from '../../fixtures/annotation-oracle.ts'
import { type Behaviour, type ChatServer, type SeenRequest, says, startChatServer } from '../../fixtures/chat-server.ts'
import { type Outcome, runInProcess } from '../../fixtures/run-in-process.ts'

const RUNS = [annotatedRun('run-a'), annotatedRun('run-b', 'other')]
const SECRET = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'

let folder = ''
let runs = ''
let out = ''
let server: ChatServer

const right = (request: SeenRequest): Behaviour => says(JSON.stringify(rightAnswer(readAsked(RUNS, request))))
let script: (request: SeenRequest) => Behaviour = right

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-annotate-llm-'))
  runs = join(folder, 'runs.jsonl')
  out = join(folder, 'labels.jsonl')
  await writeRuns(runs, RUNS)
  script = right
  server = await startChatServer((request) => script(request))
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await server.close()
})

function annotate(...options: readonly string[]): Promise<Outcome> {
  const where = ['--annotator', 'llm', '--endpoint', server.url, '--model', 'oracle']
  return runInProcess(createCommand(), [runs, '--out', out, ...where, ...options])
}

describe('consent', () => {
  it('missing sends nothing, names the endpoint and what would be sent, and exits 2', async () => {
    const refused = await annotate()
    expect(refused.code).toBe(2)
    expect(refused.err).toContain('[consent-required]')
    expect(refused.err).toContain(`${server.url}/chat/completions`)
    expect(refused.err).toContain('the text of 2 runs, 14 interactions')
    expect(server.requests).toHaveLength(0)
    expect(existsSync(out)).toBe(false)
    expect(existsSync(`${out}.journal`)).toBe(false)
  })

  it('by --redact sends the runs with secrets masked, and no label quotes a mask', async () => {
    const [first] = RUNS
    const leaky = {
      ...annotatedRun('run-a'),
      interactions: (first?.interactions ?? []).map((interaction) =>
        interaction.index === 1 ? { ...interaction, text: `I take first_word with ${SECRET}.` } : interaction,
      ),
    }
    await writeRuns(runs, [leaky])
    script = (request) => {
      const asked = readAsked([leaky], request)
      const text = JSON.stringify(rightAnswer(asked))
      if (asked.stage === 2 || asked.checkpoint !== 5 || asked.repair !== null) return says(text)
      const masked = /with (\S+)\.\n/.exec(request.body.messages[1]?.content ?? '')?.[1] ?? ''
      return says(text.replace('"quote":"first_word"', `"quote":"first_word with ${masked}"`))
    }
    const done = await annotate('--redact', '--json')
    expect(done.code).toBe(0)
    expect(JSON.stringify(server.requests)).not.toContain(SECRET)
    expect(done.err).toContain('with 1 secrets masked')
    expect(JSON.parse(done.out)).toMatchObject({ redacted: true, repairs: { asked: 1, done: 1 } })
    expect((await readLabels(out))[0]?.labels.map((label) => label.boundary)).toEqual(RIGHT_BOUNDARIES)
  })
})

describe('an estimate', () => {
  it('counts stage 1 exactly, bounds the rest, prices both, and sends nothing', async () => {
    const told = await annotate('--estimate', '--price-in', '1', '--price-out', '2', '--json')
    expect(told.code).toBe(0)
    expect(server.requests).toHaveLength(0)
    const estimate = JSON.parse(told.out)
    expect(estimate).toMatchObject({ runs: 2, checkpoints: 10, records: 30, answered: 0 })
    expect(estimate.stageOne).toMatchObject({ calls: 10, likelyOutputTokens: 30 * 260, mostOutputTokens: 10 * 8192 })
    expect(estimate.stageTwo.calls).toBe(10)
    expect(estimate.repairs.calls).toBe(20)
    const { stageOne, stageTwo, cost } = estimate
    const likely =
      stageOne.promptTokens + stageTwo.promptTokens + 2 * (stageOne.likelyOutputTokens + stageTwo.likelyOutputTokens)
    expect(cost.likelyUsd).toBeCloseTo(likely / 1e6, 9)
    expect(cost.mostUsd).toBeGreaterThan(cost.likelyUsd)
    expect(existsSync(`${out}.journal`)).toBe(false)
  })

  it('knows what the journal has already', async () => {
    await annotate('--yes')
    const told = await annotate('--estimate')
    expect(told.out).toContain('10 stage-1 answers are in the journal and cost nothing')
    expect(told.out).toContain('price: unknown')
  })
})

describe('a whole annotation', () => {
  it('writes labels, a report with the agreement with lineage, and a private journal', async () => {
    const done = await annotate('--yes', '--price-in', '1', '--price-out', '2')
    expect(done.code).toBe(0)
    expect((await readLabels(out)).map((row) => row.annotator)).toEqual(['llm:oracle:v1', 'llm:oracle:v1'])
    const report = JSON.parse(await readFile(`${out}.report.json`, 'utf8'))
    expect(report).toMatchObject({
      annotator: 'llm:oracle:v1',
      promptsSha256: PROMPTS_SHA256,
      runs: { labelled: 2, unfinished: [] },
      calls: { asked: 14, retries: 0, usage: { promptTokens: 1400, outputTokens: 140 } },
      stageOne: { records: 30, ready: 10, keep: 20, failures: {} },
      lineage: {
        kappa: 1,
        pairs: 30,
        byDomain: [
          { name: 'made', kappa: 1 },
          { name: 'other', kappa: 1 },
        ],
      },
    })
    expect(report.spentUsd).toBeCloseTo((1400 + 2 * 140) / 1e6, 12)
    expect(done.out).toMatch(/made +15 +100\.0 % +1\.000/)
    expect((await stat(`${out}.journal`)).mode & 0o777).toBe(0o600)
    expect((await stat(`${out}.report.json`)).mode & 0o777).toBe(0o600)
  })

  it('run again asks for nothing and writes the same bytes, a torn journal line or not', async () => {
    await annotate('--yes')
    const labels = await readFile(out, 'utf8')
    const journal = await readFile(`${out}.journal`, 'utf8')
    expect((await annotate('--yes', '--json')).code).toBe(0)
    expect(server.requests).toHaveLength(14)
    expect(await readFile(out, 'utf8')).toBe(labels)
    await writeFile(`${out}.journal`, journal.slice(0, -30))
    const torn = await annotate('--yes')
    expect(torn.err).toMatch(/dropped a torn last line of \d+ bytes/)
    expect(server.requests).toHaveLength(15)
    expect(await readFile(out, 'utf8')).toBe(labels)
  })

  it('stops at the budget with exit 1, labels what is finished, and says how to go on', async () => {
    const prices = ['--price-in', '10', '--price-out', '10']
    script = (request) =>
      says(JSON.stringify(rightAnswer(readAsked(RUNS, request))), {
        usage: { prompt_tokens: 1000, completion_tokens: 1000 },
      })
    const stopped = await annotate('--yes', ...prices, '--budget', '0.28', '--concurrency', '1', '--json')
    expect(stopped.code).toBe(1)
    const report = JSON.parse(stopped.out)
    expect(report.runs).toEqual({ labelled: 1, unfinished: ['run-b'] })
    expect(report.spentUsd).toBeLessThanOrEqual(0.28)
    const more = await annotate('--yes', ...prices, '--budget', '2')
    expect(more.code).toBe(0)
    expect(new Set(server.requests.map(({ key }) => key)).size).toBe(server.requests.length)
  })

  it('sends the key of the named environment variable and writes it nowhere', async () => {
    vi.stubEnv('MY_CHAT_KEY', 'sk-very-private')
    const done = await annotate('--yes', '--api-key-env', 'MY_CHAT_KEY')
    expect(server.requests[0]?.headers.authorization).toBe('Bearer sk-very-private')
    const files = await Promise.all([`${out}.report.json`, `${out}.journal`, out].map((path) => readFile(path, 'utf8')))
    expect([done.out, done.err, ...files].join()).not.toContain('sk-very-private')
  })
})

describe('an option', () => {
  it.each([
    [['--budget', '3'], /--budget needs prices/],
    [['--price-in', '3'], /belong together/],
    [['--price-in', '3', '--price-out', 'dear'], /no amount of US dollars/],
    [['--concurrency', '0'], /--concurrency 0/],
    [['--context-tokens', '9000'], /raise --context-tokens/],
    [['--api-key-env', 'NOT_SET_ANYWHERE'], /is not set/],
    [['--any-literal'], /belong to --annotator lineage/],
    [['--prices', '/nowhere/prices.json'], /cannot be read/],
  ] as const)('that cannot be meant is refused: %s', async (options, message) => {
    const refused = await annotate('--yes', ...options)
    expect(refused.code).toBe(2)
    expect(refused.err).toMatch(message)
    expect(server.requests).toHaveLength(0)
  })

  it('of this annotator is refused by the other one', async () => {
    const refused = await runInProcess(createCommand(), [runs, '--out', out, '--endpoint', server.url])
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--endpoint belongs to --annotator llm') })
    const other = await runInProcess(createCommand(), [runs, '--out', out, '--no-stream'])
    expect(other.err).toContain('--no-stream belongs to --annotator llm')
  })

  it('--prices reads the model of a dated table', async () => {
    const prices = join(folder, 'prices.json')
    const table = { date: '2026-01-31', models: { oracle: { input: 3, cached_input: 1, output: 9 } } }
    await writeFile(prices, JSON.stringify(table))
    expect((await annotate('--estimate', '--prices', prices)).out).toContain('prices of 2026-01-31')
    await writeFile(prices, JSON.stringify({ ...table, models: { other: { input: 3, output: 9 } } }))
    expect((await annotate('--estimate', '--prices', prices)).err).toMatch(/it has no model oracle, only other/)
  })

  it('--journal names another file, which must be a journal', async () => {
    const precious = join(folder, 'precious.txt')
    await writeFile(precious, 'not to be lost')
    const refused = await annotate('--yes', '--journal', precious)
    expect(refused.code).toBe(2)
    expect(refused.err).toContain('[rows-invalid]')
    expect(await readFile(precious, 'utf8')).toBe('not to be lost')
    expect(server.requests).toHaveLength(0)
  })
})
