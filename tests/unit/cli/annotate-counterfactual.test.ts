import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readLabels } from '../../../data/store/labels.ts'
import { writeRuns } from '../../../data/store/runs.ts'
import { createCommand as createAnnotate } from '../../../src/cli/commands/annotate.ts'
import { createCommand as createLabels } from '../../../src/cli/commands/labels.ts'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { shellInteraction, trajectoryOf } from '../../fakes/trajectories.ts'
import { type Outcome, runInProcess } from '../../fixtures/run-in-process.ts'

/** The file that the first step shows is opened by the third; the embedded model copies such names. */
function repair(file: string): Trajectory {
  return trajectoryOf({
    id: `repair-${file}`,
    group: `repair-${file}`,
    task: 'One test fails. Find out why and fix it.',
    interactions: [
      shellInteraction(0, 'npm test', `FAIL src/${file}.test.ts: expected 2 to equal 3\n1 failed, 4 passed`),
      shellInteraction(1, 'git status', `On branch ${file.slice(-4)}. Nothing to commit, working tree clean.`),
      shellInteraction(2, `cat src/${file}.test.ts`, `test("${file.slice(-4)}", () => { equal(sum(1, 1), 3) })`),
    ],
  })
}

const RUNS = ['quartz_lattice_k7x2', 'walnut_harvest_p9m4', 'ember_furnace_z3w8', 'lagoon_current_b5n1'].map(repair)
const MODEL_OPTIONS = ['--annotator', 'counterfactual', '--target-tokens', '64', '--placebos', '3', '--quantile', '0.9']

let folder = ''
let runs = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-counterfactual-'))
  runs = join(folder, 'runs.jsonl')
  await writeRuns(runs, RUNS)
})
afterAll(() => rm(folder, { recursive: true }))
afterEach(() => {
  process.exitCode = undefined
})

function annotate(out: string, ...options: readonly string[]): Promise<Outcome> {
  return runInProcess(createAnnotate(), [runs, '--out', join(folder, out), ...options])
}

const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')

describe('keepready annotate --annotator counterfactual with the embedded model', () => {
  it('writes labels, report and measurements; a run that was killed gives the same bytes', async () => {
    const whole = await annotate('whole.jsonl', ...MODEL_OPTIONS)
    expect(whole.code, whole.err).toBe(0)
    expect(whole.err).toMatch(/estimate: at most [\d,]+ tokens for 12 pairs and 36 placebos of 8 actions: about/)
    expect(whole.out).toContain('does the gain find uptake?')
    expect(whole.out).toContain(`keepready labels stats ${runs}`)
    const rows = await readLabels(join(folder, 'whole.jsonl'))
    expect(rows.map((row) => row.annotator)).toEqual(RUNS.map(() => 'counterfactual:tiny'))
    // The file name that step 0 shows makes its use at step 2 more probable, for every run.
    for (const row of rows) {
      expect(row.labels[0]?.boundary).toBeGreaterThanOrEqual(3)
      expect(row.labels[0]?.evidence).toContainEqual(
        expect.objectContaining({ kind: 'uptake', interaction: 2, gain: expect.any(Number) }),
      )
    }
    const report: unknown = JSON.parse(await read('whole.jsonl.report.json'))
    expect(report).toMatchObject({ runs: 4, actions: 8, pairs: 12, labelledPairs: 4 })

    const lines = (await read('whole.jsonl.measurements.jsonl')).split('\n')
    await writeFile(
      join(folder, 'again.jsonl.measurements.jsonl'),
      `${lines.slice(0, 6).join('\n')}\n${lines[6]?.slice(0, 40)}`,
    )
    const again = await annotate('again.jsonl', ...MODEL_OPTIONS)
    expect(again.err).toContain('holds 5 of 8 actions; none is measured again')
    for (const ending of ['', '.measurements.jsonl', '.report.json'])
      expect(await read(`again.jsonl${ending}`)).toBe(await read(`whole.jsonl${ending}`))

    const looser = await annotate('again.jsonl', ...MODEL_OPTIONS.with(-1, '0.5'), '--json')
    expect(looser.err).toContain('holds 8 of 8 actions')
    expect(JSON.parse(looser.out)).toMatchObject({ quantile: 0.5, pairs: 12 })
  }, 60_000)

  it('is read by the commands for labels', async () => {
    const labels = join(folder, 'whole.jsonl')
    const stats = await runInProcess(createLabels(), ['stats', runs, labels])
    expect(stats.out).toContain('labelled by counterfactual:tiny')
    const run = RUNS[0]?.id ?? ''
    const show = await runInProcess(createLabels(), [
      'show',
      run,
      '--runs',
      runs,
      '--labels',
      labels,
      '--interaction',
      '0',
    ])
    expect(show.out, show.err).toMatch(/uptake at interaction 2, gain [\d.]+ nats \(threshold [\d.]+\):/)
    const agreement = await runInProcess(createLabels(), ['agreement', labels, join(folder, 'again.jsonl')])
    expect(agreement.code, agreement.err).toBe(0)
  })

  it('with --estimate says what it would take and writes nothing', async () => {
    const told = await annotate('never.jsonl', ...MODEL_OPTIONS, '--estimate', '--json')
    expect(JSON.parse(told.out)).toMatchObject({ pairs: 12, actions: 8, tokens: expect.any(Number) })
    await expect(read('never.jsonl')).rejects.toThrow('ENOENT')
    await expect(read('never.jsonl.measurements.jsonl')).rejects.toThrow('ENOENT')
  })
})

describe('its options', () => {
  it.each([
    [['--annotator', 'lineage', '--placebos', '4'], '--placebos belongs to --annotator counterfactual'],
    [['--annotator', 'counterfactual', '--endpoint', 'http://x'], '--endpoint belongs to --annotator llm'],
    [['--annotator', 'counterfactual', '--quantile', '1'], '--quantile 1'],
    [['--annotator', 'counterfactual', '--placebos', '1'], '--placebos'],
    [['--annotator', 'counterfactual', '--target-tokens', '9000'], 'context'],
    [['--annotator', 'llm', '--model', 'm', '--endpoint', 'http://x', '--quantile', '0.9'], '--quantile belongs'],
  ])('%j are refused by name', async (options, message) => {
    const refused = await annotate('refused.jsonl', ...options)
    expect(refused.code).not.toBe(0)
    expect(refused.err).toContain(message)
  })
})
