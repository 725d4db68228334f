import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors.ts'
import { AGE_POSITION_LENGTH } from '../../../../training/baselines/age-position-length.ts'
import { createObservationCorpus } from '../../../../training/baselines/observation-corpus.ts'
import { runInline } from '../../../../training/inline-runner.ts'
import { runStudy } from '../../../../training/studies/run-study.ts'
import { designDomains, designFractions, designSeeds } from '../../../../training/studies/study-design.ts'
import type { StudyRecord } from '../../../../training/studies/study-record.ts'
import type { StudyRequest } from '../../../../training/studies/study-request.ts'
import { openJournal } from '../../../../training/sweep/journal.ts'
import type { TrainJob } from '../../../../training/train-rotation.ts'
import type { JobRunner } from '../../../../training/worker-pool.ts'
import { runInstantly } from '../../../fixtures/instant-runner.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 24, minLength: 9, maxLength: 11, hiddenSize: 4 })
const { trajectories } = dataset

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keepready-study-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

async function run(
  study: Pick<StudyRequest, 'kind' | 'design'>,
  overrides: Partial<StudyRequest> = {},
): Promise<StudyRecord> {
  const journal = await openJournal(directory)
  try {
    return await runStudy({
      dataset,
      inputs: ['evidence', 'hidden'],
      overrides: { width: 4, epochs: 2, seed: 1 },
      baselines: [AGE_POSITION_LENGTH],
      corpus: createObservationCorpus(dataset.pairs, []),
      seed: 1,
      resamples: 100,
      journal,
      lanes: 1,
      runJobs: runInstantly,
      backend: 'ort-cpu',
      environment: { source: 'test', node: 'test' },
      ...study,
      ...overrides,
    })
  } finally {
    journal.close()
  }
}

const fractions = { kind: 'fraction', design: designFractions(trajectories, [25, 50, 100], 1) } as const

/** Every job that ran. */
function watch(seen: TrainJob[]): JobRunner {
  return (given, jobs, hooks) => {
    seen.push(...jobs)
    return runInstantly(given, jobs, hooks)
  }
}

describe('runStudy', () => {
  it('measures routers and baselines at each training fraction, on the same test groups', async () => {
    const record = await run(fractions, { runJobs: runInline, inputs: ['evidence'] })
    expect(record.predictors.map(({ name }) => name)).toEqual(['evidence', 'age-position-length-lr'])
    expect(record.points.map(({ x, training }) => [x, training.groups])).toEqual([
      [0.25, 4],
      [0.5, 8],
      [1, 16],
    ])
    for (const { values, rotations, test } of record.points) {
      expect(rotations).toEqual([0, 1, 2, 3, 4])
      expect(test).toEqual(record.points[0]?.test)
      expect(values.map(({ predictor }) => predictor)).toEqual(['evidence', 'age-position-length-lr'])
      for (const { metrics } of values) {
        expect(metrics.withinAuroc.value).toBeGreaterThan(0.5)
        expect(metrics.withinAuroc.interval?.low).toBeLessThanOrEqual(metrics.withinAuroc.value ?? 0)
      }
    }
    const [first, last] = [record.points[1], record.points[2]].map(
      (point) => point?.values[0]?.metrics.withinAuroc.value ?? Number.NaN,
    )
    const gain = record.differences.find(({ metric }) => metric === 'withinAuroc')
    expect(gain).toMatchObject({ a: { point: '100 %' }, b: { point: '50 %' } })
    expect(gain?.difference).toBeCloseTo((last ?? 0) - (first ?? 0), 12)
    expect(record.summary[0]).toMatch(
      /^evidence: within-trajectory AUROC .* at 25 % \(4 training groups\), .* at 100 % \(16\)/,
    )
  })

  it('compares a domain that training has not seen with the same runs when it has', async () => {
    const larger = syntheticDataset({ groups: 32, minLength: 11, maxLength: 12, hiddenSize: 4 })
    const record = await run(
      { kind: 'domain', design: designDomains(larger.trajectories, 1) },
      { dataset: larger, corpus: createObservationCorpus(larger.pairs, []) },
    )
    expect(record.points.map(({ label }) => label)).toEqual(['swe-agent', 'tau-bench'])
    const kinds = record.predictors.map(({ name, kind }) => `${kind} ${name}`)
    expect(kinds).toEqual([
      'router evidence',
      'router hidden',
      'reference evidence, domain seen',
      'reference hidden, domain seen',
      'baseline age-position-length-lr',
    ])
    for (const { values, label, test } of record.points) {
      expect(test.groups).toBeGreaterThan(12)
      // The pretended router does not depend on its training groups: seen or not, it scores alike.
      const [unseen, , seen] = values
      expect(unseen?.metrics).toEqual(seen?.metrics)
      const cost = record.differences.find(
        ({ a, metric }) => a.point === label && a.predictor === 'evidence' && metric === 'withinAuroc',
      )
      expect(cost).toMatchObject({ difference: 0, interval: { low: 0, high: 0 }, verdict: 'no-difference-shown' })
    }
    expect(record.summary[0]).toMatch(
      /^evidence on swe-agent, which training has not seen: .* \+\.000 \[\.000 \.000\]: no difference shown\.$/,
    )
  })

  it('tells the spread between seeds beside the interval over groups', async () => {
    const record = await run({ kind: 'seeds', design: designSeeds(trajectories, [1, 2, 3], 1) })
    const values = record.points.map(({ values: [own] }) => own?.metrics.withinAuroc.value ?? Number.NaN)
    const spread = record.seedSpread.find(
      ({ predictor, metric }) => predictor === 'evidence' && metric === 'withinAuroc',
    )
    const mean = (values[0] ?? 0) / 3 + (values[1] ?? 0) / 3 + (values[2] ?? 0) / 3
    expect(spread).toMatchObject({ seeds: 3, low: Math.min(...values), high: Math.max(...values) })
    expect(spread?.mean).toBeCloseTo(mean, 12)
    expect(spread?.standardDeviation).toBeCloseTo(
      Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2),
      12,
    )
    expect(spread?.groupHalfWidth).toBeGreaterThan(0)
    expect(record.seedSpread.some(({ predictor }) => predictor === 'age-position-length-lr')).toBe(false)
    expect(record.summary[0]).toMatch(/over 3 seeds, from .* to .*, standard deviation/)
  })

  it('trains no job twice: the whole fraction, the first seed and the seen domain are the same five', async () => {
    const seen: TrainJob[] = []
    const options = { runJobs: watch(seen), inputs: ['evidence'] } as const
    await run(fractions, options)
    expect(seen).toHaveLength(15)
    await run({ kind: 'seeds', design: designSeeds(trajectories, [1, 2], 1) }, options)
    expect(seen).toHaveLength(20)
    await run({ kind: 'domain', design: designDomains(trajectories, 1) }, options)
    expect(seen).toHaveLength(30)
    await run(fractions, options)
    expect(seen).toHaveLength(30)
  })

  it('gives the same record in one lane as in three, and again from the journal', async () => {
    const three = await run(fractions, { lanes: 3 })
    expect(await run(fractions)).toEqual(three)
    rmSync(join(directory, 'journal.jsonl'))
    expect(await run(fractions)).toEqual(three)
  })

  it('leaves out rotations whose training part has one class, and says which', async () => {
    const first = designFractions(trajectories, [1], 1).points[0]?.folds[2]?.split.train ?? new Set<string>()
    const keep = dataset.pairs.label.map((label, pair) =>
      first.has(trajectories[dataset.pairs.trajectory[pair] ?? 0]?.group ?? '') ? 0 : label,
    )
    const blank = { ...dataset, pairs: { ...dataset.pairs, label: keep } }
    const record = await run(
      { kind: 'fraction', design: designFractions(trajectories, [1, 100], 1) },
      { dataset: blank, inputs: ['evidence'] },
    )
    expect(record.points[0]?.rotations).not.toContain(2)
    expect(record.caveats.join(' ')).toMatch(/1 %: \d of 5 rotations are left out/)
    expect(record.differences).toEqual([])
  })

  it('leaves out a router that diverged at a point, and says so', async () => {
    const fragile: JobRunner = (given, jobs, hooks) => {
      const [job] = jobs
      if (job?.inputs === 'hidden' && job.split.train.size === 4 && job.rotation === 3)
        return Promise.reject(new AppError('output-not-finite', 'the loss is NaN'))
      return runInstantly(given, jobs.slice(0, 1), hooks).then(() =>
        jobs.length > 1 ? fragile(given, jobs.slice(1), hooks) : undefined,
      )
    }
    const record = await run(fractions, { runJobs: fragile })
    expect(record.points.map(({ values }) => values.some(({ predictor }) => predictor === 'hidden'))).toEqual([
      false,
      true,
      true,
    ])
    expect(record.caveats.at(-1)).toMatch(/^hidden has no value at 25 %: its loss diverged/)
  })
})
