import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assignParts, ROTATIONS, rotationSplit } from '../../../../data/rotations.ts'
import type { Dataset } from '../../../../data/store/dataset.ts'
import { AppError } from '../../../../src/errors.ts'
import { runInline } from '../../../../training/inline-runner.ts'
import { JOURNAL_FILE, openJournal } from '../../../../training/sweep/journal.ts'
import { summariseDataset } from '../../../../training/sweep/same-data.ts'
import { gridConfigurations } from '../../../../training/sweep/search-space.ts'
import { sweep } from '../../../../training/sweep/sweep.ts'
import type { SweepRecord } from '../../../../training/sweep/sweep-record.ts'
import type { SweepRequest } from '../../../../training/sweep/sweep-request.ts'
import type { TrainJob } from '../../../../training/train-rotation.ts'
import type { JobRunner } from '../../../../training/worker-pool.ts'
import { runInstantly } from '../../../fixtures/instant-runner.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 12, minLength: 8, maxLength: 10, hiddenSize: 4 })
const configurations = gridConfigurations({
  evidenceSource: [0],
  inputs: ['evidence', 'hidden'],
  values: { positiveWeight: [1, 10] },
  fixed: { width: 4, epochs: 2 },
})
const parts = assignParts(dataset.trajectories, 1)
const isTest = (rotation: number, group: string): boolean =>
  rotationSplit(parts, ROTATIONS[rotation] ?? 0).test.has(group)

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keepready-sweep-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

async function run(overrides: Partial<SweepRequest> = {}): Promise<SweepRecord> {
  const journal = await openJournal(directory)
  try {
    return await sweep({
      datasets: [summariseDataset(dataset)],
      read: () => Promise.resolve(dataset),
      search: 'grid',
      configurations,
      seed: 1,
      resamples: 100,
      journal,
      lanes: 2,
      runJobs: runInstantly,
      backend: 'ort-cpu',
      environment: { source: 'test', node: 'test' },
      ...overrides,
    })
  } finally {
    journal.close()
  }
}

/** Every job with the dataset that it was given. */
function watch(seen: { job: TrainJob; dataset: Dataset }[], stopAfter = Number.POSITIVE_INFINITY): JobRunner {
  return (given, jobs, hooks) =>
    runInstantly(given, jobs, {
      ...hooks,
      onResult(result) {
        if (seen.length >= stopAfter) throw new AppError('interrupted', 'killed')
        const job = jobs.find(
          ({ config, rotation, inputs }) =>
            config.seed === 1 && rotation === result.rotation && inputs === result.inputs,
        )
        if (job !== undefined) seen.push({ job, dataset: given })
        hooks.onResult(result)
      },
    })
}

describe('sweep', () => {
  it('lets each rotation choose on its own validation part and tests that choice alone', async () => {
    const record = await run({ runJobs: runInline, configurations: configurations.slice(0, 3) })
    expect(record.search).toEqual({ kind: 'grid', configurations: 3, jobs: 20 })
    for (const { rotation, chosen, validation } of record.rotations) {
      const values = record.configurations.map((one) => one.validation.rotations[rotation]?.value ?? 0)
      expect(validation.withinAuroc).toBe(Math.max(...values))
      expect(values[chosen]).toBe(validation.withinAuroc)
      expect(record.configurations[chosen]?.chosenBy).toContain(rotation)
    }
    expect(record.nested.withinAuroc.value).toBeGreaterThan(0.6)
    expect(record.nested.withinAuroc.rotations.map(({ value }) => value)).toEqual(
      record.rotations.map(({ test }) => test.withinAuroc.value),
    )
    expect(record.optimism).toBeCloseTo((record.validationOfChosen ?? 0) - (record.nested.withinAuroc.value ?? 0), 12)
    expect(record.mostChosen.command).toMatch(
      /^keepready train \/synthetic --out router\/ --inputs evidence --positive-weight \d+ --width 4 .*--epochs 2$/,
    )
  })

  it('hands no test pair to any job before the choices, and then one test job to each rotation', async () => {
    const seen: { job: TrainJob; dataset: Dataset }[] = []
    await run({ runJobs: watch(seen), lanes: 1 })
    const holdsTest = ({ job, dataset: given }: (typeof seen)[number]): boolean =>
      Array.from(given.pairs.trajectory).some((t) => isTest(Number(job.rotation), given.trajectories[t]?.group ?? ''))
    expect(seen).toHaveLength(25)
    expect(seen.slice(0, 20).some(holdsTest)).toBe(false)
    expect(seen.slice(20).every(holdsTest)).toBe(true)
    expect(seen.slice(20).map(({ job }) => job.rotation)).toEqual([0, 1, 2, 3, 4])
  })

  it('gives the same table when it is killed and run again, and repeats no finished job', async () => {
    const whole = await run()
    rmSync(join(directory, JOURNAL_FILE))
    const before: { job: TrainJob; dataset: Dataset }[] = []
    await expect(run({ runJobs: watch(before, 7), lanes: 1 })).rejects.toMatchObject({ code: 'interrupted' })
    // A kill in the middle of a line.
    const path = join(directory, JOURNAL_FILE)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.slice(0, -30))
    const after: { job: TrainJob; dataset: Dataset }[] = []
    expect(await run({ runJobs: watch(after), lanes: 1 })).toEqual(whole)
    expect(after).toHaveLength(25 - 6)
    const again: { job: TrainJob; dataset: Dataset }[] = []
    expect(await run({ runJobs: watch(again) })).toEqual(whole)
    expect(again).toEqual([])
  })

  it('does not depend on the number of lanes', async () => {
    const one = await run({ lanes: 1 })
    rmSync(join(directory, JOURNAL_FILE))
    expect(await run({ lanes: 3 })).toEqual(one)
  })

  it('does a job again for other code, another engine or another configuration', async () => {
    await run()
    const again: { job: TrainJob; dataset: Dataset }[] = []
    await run({ runJobs: watch(again), environment: { source: 'other', node: 'test' } })
    expect(again).toHaveLength(25)
  })

  it('goes on without a configuration whose loss diverges, and says where it did', async () => {
    const fragile: JobRunner = async (given, jobs, hooks) => {
      for (const job of jobs) {
        if (job.config.positiveWeight === 10 && job.inputs === 'evidence' && job.rotation === 2)
          throw new AppError('output-not-finite', 'the loss is NaN')
        await runInstantly(given, [job], hooks)
      }
    }
    const record = await run({ runJobs: fragile })
    expect(record.configurations.map(({ divergedIn }) => divergedIn)).toEqual([[], [2], [], []])
    expect(record.configurations[1]?.validation.rotations).toHaveLength(4)
    expect(record.rotations[2]?.chosen).not.toBe(1)
  })

  it('ends with any other failure, and stops when it is told to', async () => {
    const broken: JobRunner = () => Promise.reject(new AppError('host-crashed', 'gone'))
    await expect(run({ runJobs: broken })).rejects.toMatchObject({ code: 'host-crashed' })
    const signal = AbortSignal.abort(new AppError('interrupted', 'stop'))
    await expect(run({ signal })).rejects.toMatchObject({ code: 'interrupted' })
  })
})
