import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  labelAll,
  measureAll,
  planAnnotation,
} from '../../../../../data/annotate/counterfactual/annotate-counterfactual.ts'
import type { MeasurementsIdentity } from '../../../../../data/annotate/counterfactual/measurement.schema.ts'
import { openMeasurements } from '../../../../../data/annotate/counterfactual/measurement-file.ts'
import { costOfPlans } from '../../../../../data/annotate/counterfactual/plan-actions.ts'
import { counterfactualReport } from '../../../../../data/annotate/counterfactual/report.ts'
import { DEFAULT_COUNTERFACTUAL } from '../../../../../data/annotate/counterfactual/settings.ts'
import type { TokenScorer } from '../../../../../models/frozen-lm/head/token-scorer.ts'
import type { Trajectory } from '../../../../../src/trajectory/trajectory.ts'
import { createViewEncoder } from '../../../../../src/view/view-encoder.ts'
import { createFakeTokenScorer } from '../../../../fakes/fake-token-scorer.ts'
import { createWordTokenizer } from '../../../../fakes/word-tokenizer.ts'
import { runOf } from '../../../evidence/run-of.ts'

/** Interaction 0 names places that actions 2 and 5 go to; nothing else is ever used again. */
function errand(name: string): Trajectory {
  const places = Array.from({ length: 8 }, (_, k) => `${name}_place_${k}`).join(' ')
  return runOf({
    id: name,
    task: 'Do the errand.',
    steps: [
      { text: `I look around at ${name}.`, sees: `on the list: ${places}` },
      { text: 'I wait a little.', sees: `nothing of note was seen by ${name}` },
      { text: `Walk to ${places}`, sees: `the door of ${name} is shut and dark` },
      { text: `Have some tea of ${name}.`, sees: `sweet and warm for ${name} indeed` },
      { text: `Sit down with ${name}.`, sees: `quiet birds sing in ${name}` },
      { text: `Open ${places}`, sees: `it creaks, says ${name}` },
      { text: `Leave ${name}.`, sees: `nobody like ${name} is around at all` },
    ],
  })
}

const RUNS = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay'].map(errand)
const settings = { ...DEFAULT_COUNTERFACTUAL, targetTokens: 80, recentInteractions: 1 }
const identity: MeasurementsIdentity = { model: { name: 'made', filesSha256: 'f' }, runsSha256: 'r', settings }

let folder = ''
let path = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keepready-counterfactual-'))
  path = join(folder, 'sub', 'measurements.jsonl')
})
afterEach(() => rm(folder, { recursive: true }))

function encoder() {
  return createViewEncoder(createWordTokenizer(), { largestSection: 400, maxCachedChars: 1e6 })
}

async function annotate(
  runs: readonly Trajectory[] = RUNS,
  options: {
    readonly scorer?: TokenScorer
    readonly identity?: MeasurementsIdentity
    readonly signal?: AbortSignal
  } = {},
) {
  const { scorer = createFakeTokenScorer(), signal = new AbortController().signal } = options
  const parts = { encoder: encoder(), settings, signal }
  const plans = await planAnnotation(runs, { ...parts, onRun: () => undefined })
  const file = await openMeasurements(path, options.identity ?? identity)
  let tokens = 0
  try {
    const measurements = await measureAll(plans, { ...parts, file, scorer, onTokens: (count) => (tokens += count) })
    const labels = labelAll(runs, { measurements, annotator: 'counterfactual:made', quantile: 0.95 })
    return { plans, measurements, labels, tokens, earlier: file.earlier.length }
  } finally {
    await file.close()
    await scorer.close()
  }
}

describe('the counterfactual annotator', () => {
  it('finds what later actions depend on, and from where on it does not matter any more', async () => {
    const { labels } = await annotate()
    for (const row of labels.rows) {
      expect(row.labels[0]).toMatchObject({ boundary: 6 })
      expect(row.labels[0]?.evidence.map(({ interaction }) => interaction)).toEqual(expect.arrayContaining([2, 5]))
    }
    const wrong = labels.rows.flatMap((row) => row.labels.slice(3).filter(({ boundary }) => boundary !== null))
    expect(wrong.length).toBeLessThan(RUNS.length)
  })

  it('measures every earlier interaction of every action, each beside placebos of other groups', async () => {
    const { plans, measurements, tokens } = await annotate()
    expect(measurements).toHaveLength(RUNS.length * 6)
    for (const { trajectory, action, strata } of measurements) {
      const targets = strata.flatMap((stratum) => stratum.targets.map(({ interaction }) => interaction))
      expect(targets.sort((a, b) => a - b)).toEqual(Array.from({ length: action }, (_, k) => k))
      for (const { placebos } of strata) {
        expect(placebos).toHaveLength(settings.placebos)
        expect(placebos.every((placebo) => placebo.trajectory !== trajectory)).toBe(true)
      }
    }
    const cost = costOfPlans(plans, settings)
    expect(cost).toMatchObject({ actions: 36, targets: 36 * 3.5 })
    expect(tokens).toBeLessThanOrEqual(cost.tokens + cost.targets * 64 + cost.placebos * 64)
  })

  it('reports that the gain finds uptake, by distance', async () => {
    const { labels, measurements } = await annotate()
    const report = counterfactualReport(RUNS, { labels, measurements, settings, quantile: 0.95, annotator: 'made' })
    expect(report).toMatchObject({ runs: 6, actions: 36, pairs: 126, labelledPairs: 6 * 15 })
    expect(report.byDistance.map(({ distance }) => distance)).toEqual(['1', '2', '3-4', '5-8'])
    expect(report.byDistance.reduce((sum, { pairs }) => sum + pairs, 0)).toBe(126)
    const [units] = report.agreement
    expect(units).toMatchObject({ score: 'gain in units', beyond: 0, pairs: 126 })
    expect(units?.auroc).toBeGreaterThan(0.9)
    expect(report.aboveWithUptake).toBeGreaterThan(report.aboveWithoutUptake ?? 1)
    expect(report.prevalence).toBeGreaterThan(0)
    const [loose, same, strict] = report.byQuantile
    expect(same).toMatchObject({ quantile: 0.95, limitUnits: labels.limit, prevalence: report.prevalence })
    expect(loose?.above).toBeGreaterThanOrEqual(same?.above ?? 1)
    expect(strict?.above).toBeLessThanOrEqual(same?.above ?? 0)
  })

  it('goes on after a stop with the bytes of a run that was not stopped, measuring nothing twice', async () => {
    const whole = await annotate()
    const bytes = await readFile(path)
    await rm(path)
    const stopper = new AbortController()
    const scorer = createFakeTokenScorer({
      onRun: (run) => {
        if (run === 200) stopper.abort(new Error('stopped'))
      },
    })
    await expect(annotate(RUNS, { scorer, signal: stopper.signal })).rejects.toThrow('stopped')
    expect(scorer.liveStates).toBe(0)
    await appendFile(path, '{"trajectory":"ada","act')
    const second = createFakeTokenScorer()
    const resumed = await annotate(RUNS, { scorer: second })
    expect(resumed.earlier).toBeGreaterThan(3)
    expect(resumed.earlier).toBeLessThan(36)
    expect(await readFile(path)).toEqual(bytes)
    expect(resumed.labels).toEqual(whole.labels)
    const third = createFakeTokenScorer()
    expect((await annotate(RUNS, { scorer: third })).labels).toEqual(whole.labels)
    expect(third.runs).toBe(0)
  })

  it('leaves a file of other work, or of another program, as it is', async () => {
    await annotate()
    const other = { ...identity, model: { name: 'other', filesSha256: 'g' } }
    const before = await readFile(path, 'utf8')
    await expect(annotate(RUNS, { identity: other })).rejects.toMatchObject({
      code: 'rows-invalid',
      message: expect.stringContaining('another model'),
    })
    await expect(annotate(RUNS.toReversed())).rejects.toMatchObject({
      code: 'rows-invalid',
      message: expect.stringContaining('another order'),
    })
    expect(await readFile(path, 'utf8')).toBe(before)
    await writeFile(path, 'my notes\nmore\n')
    await expect(annotate()).rejects.toMatchObject({
      code: 'rows-invalid',
      message: expect.stringContaining('no measurements file'),
    })
    await writeFile(path, 'my notes')
    await expect(annotate()).rejects.toMatchObject({ code: 'rows-invalid' })
    expect(await readFile(path, 'utf8')).toBe('my notes')
  })

  it('keeps measurements to their owner: they name runs', async () => {
    await annotate()
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('labels runs without any action, and refuses runs of a single group by name', async () => {
    const idle = runOf({ id: 'idle', steps: [{ text: 'only one' }] })
    const { labels } = await annotate([...RUNS, idle])
    expect(labels.rows.at(-1)?.labels).toMatchObject([{ boundary: null, reason: 'no later action was measured' }])
    await rm(path)
    const [first] = RUNS
    await expect(annotate(first === undefined ? [] : [first])).rejects.toMatchObject({
      code: 'training-data-insufficient',
      message: expect.stringContaining('placebos are interactions of other groups'),
    })
  })
})
