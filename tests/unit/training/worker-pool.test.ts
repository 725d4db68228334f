import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assignParts, rotationSplit } from '../../../data/rotations.ts'
import { resolveTrainConfig } from '../../../training/train-config.ts'
import type { TrainedRouter, TrainJob } from '../../../training/train-rotation.ts'
import { createWorkerRunner } from '../../../training/worker-pool.ts'
import { syntheticDataset } from '../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 18 })
const parts = assignParts(dataset.trajectories, 1)
const jobs = ([0, 1, 2] as const).map(
  (rotation): TrainJob => ({
    inputs: 'evidence',
    rotation,
    split: rotationSplit(parts, rotation),
    config: resolveTrainConfig('evidence', { width: 4, epochs: 2 }),
  }),
)
const run = createWorkerRunner({ workers: 2 })

describe('createWorkerRunner', () => {
  it('returns the result of every job and reports steps and epochs', async () => {
    const results: TrainedRouter[] = []
    let pairs = 0
    const epochs: string[] = []
    await run(dataset, jobs, {
      onStep: (count) => {
        pairs += count
      },
      onEpoch: (job, record) => epochs.push(`${job.rotation}/${record.epoch}`),
      onResult: (result) => results.push(result),
    })
    expect(results.map(({ rotation }) => rotation).toSorted()).toEqual([0, 1, 2])
    expect(epochs.toSorted()).toEqual(['0/1', '0/2', '1/1', '1/2', '2/1', '2/2'])
    expect(pairs).toBeGreaterThan(0)
  })

  it('ends with the error of a job, by its code, and starts no further job', async () => {
    const broken = { ...dataset, pairs: { ...dataset.pairs, label: new Uint8Array(dataset.pairs.count) } }
    const results: TrainedRouter[] = []
    await expect(run(broken, jobs, { onResult: (result) => results.push(result) })).rejects.toMatchObject({
      code: 'training-data-insufficient',
    })
    expect(results).toEqual([])
  })

  it('stops between two steps when asked to, without harm to the process', async () => {
    const abort = new AbortController()
    const long = jobs.map((job) => ({ ...job, config: { ...job.config, epochs: 1000, patience: 1000 } }))
    let steps = 0
    const running = run(dataset, long, {
      signal: abort.signal,
      onStep: () => {
        steps += 1
        if (steps === 2) abort.abort(new Error('stopped by the test'))
      },
      onResult: () => undefined,
    })
    await expect(running).rejects.toThrow('stopped by the test')
  })

  it('names a process that dies before its job is done', async () => {
    const entry = join(mkdtempSync(join(tmpdir(), 'keepready-process-')), 'dies.mjs')
    writeFileSync(entry, 'process.exit(3)')
    await expect(
      createWorkerRunner({ workers: 1, entry })(dataset, jobs, { onResult: () => undefined }),
    ).rejects.toMatchObject({ code: 'host-crashed', message: expect.stringContaining('exit code 3') })
    rmSync(dirname(entry), { recursive: true })
  })

  it('passes on what a result could not be stored for', async () => {
    const refuse = (): void => {
      throw new Error('no room')
    }
    await expect(run(dataset, jobs.slice(0, 1), { onResult: refuse })).rejects.toMatchObject({
      message: expect.stringContaining('no room'),
    })
  })
})
