/**
 * Training killed with SIGKILL, again and again, ends with the bytes of a training that was never stopped.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Dataset } from '../../../../data/store/dataset.ts'
import { readDataset } from '../../../../data/store/read-dataset.ts'
import { packageFile } from '../../../../models/package-root.ts'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import { AppError } from '../../../../src/errors.ts'
import { createRng } from '../../../../src/rng.ts'
import { runInline } from '../../../../training/inline-runner.ts'
import { createJobKeeper } from '../../../../training/resume/job-keeper.ts'
import { WORK_FOLDER } from '../../../../training/resume/work-folder.ts'
import { PAPER_SIZE } from '../../../../training/synthetic/synthetic-spec.ts'
import { writeSynthetic } from '../../../../training/synthetic/write-synthetic.ts'
import { type TrainPlan, type TrainRequest, trainRouter } from '../../../../training/train.ts'

const EPOCHS = 3
let folder: string
let dataset: Dataset

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keepready-resume-'))
  const spec = { ...PAPER_SIZE, trajectories: 24, lengths: [8, 9], hiddenSize: 6, latents: 2, prevalence: 0.3 }
  await writeSynthetic(join(folder, 'dataset'), spec)
  dataset = await readDataset(join(folder, 'dataset'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function request(out: string, overrides: Partial<TrainRequest> = {}): TrainRequest {
  return {
    dataset,
    out: join(folder, out),
    inputs: 'hidden',
    overrides: { width: 16, epochs: EPOCHS, patience: 100, learningRate: 0.01, minFuture: 0 },
    runJobs: runInline,
    node: 'test',
    source: 'test',
    keepEveryMs: 0,
    ...overrides,
  }
}

/** Relative path -> bytes of every file below. */
function filesBelow(directory: string): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(directory, path), readFileSync(path, 'base64')]),
  )
}

/** @returns whether the training ended by itself; @param epochs of any job before it is killed */
async function trainAndKill(out: string, epochs: number): Promise<boolean> {
  const script = packageFile('tests/fixtures/train-until-killed.mjs')
  const child: ChildProcess = spawn(process.execPath, [script, join(folder, 'dataset'), join(folder, out), `${EPOCHS}`])
  let seen = 0
  child.stdout?.on('data', (text: Buffer) => {
    seen += text.toString().split('\n').length - 1
    if (seen >= epochs) child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code === 0))
  })
}

describe('a training that is stopped', () => {
  it('ends with the same artefact however often its processes are killed', async () => {
    await trainRouter(request('straight'))
    const rng = createRng(3)
    let runs = 1
    while (!(await trainAndKill('killed', 5 + rng.nextBelow(4)))) runs += 1
    expect(runs).toBeGreaterThan(2)
    expect(filesBelow(join(folder, 'killed'))).toEqual(filesBelow(join(folder, 'straight')))
  })

  it('says what is done already, and forgets it when asked to', async () => {
    const abort = new AbortController()
    let epochs = 0
    const onEpoch = (): void => {
      epochs += 1
      if (epochs === EPOCHS + 2) abort.abort(new Error('stopped by the test'))
    }
    await expect(trainRouter(request('stopped', { onEpoch, signal: abort.signal }))).rejects.toThrow('stopped')
    expect(existsSync(join(folder, 'stopped', WORK_FOLDER))).toBe(true)
    const plans: TrainPlan[] = []
    const again = { onPlan: (plan: TrainPlan) => void plans.push(plan), signal: AbortSignal.abort(new Error('no')) }
    await expect(trainRouter(request('stopped', again))).rejects.toThrow('no')
    await expect(trainRouter(request('stopped', { ...again, fresh: true }))).rejects.toThrow('no')
    // The epoch at whose end it was stopped is kept too.
    expect(plans.map(({ finishedJobs, finishedEpochs }) => [finishedJobs, finishedEpochs])).toEqual([
      [1, 2],
      [0, 0],
    ])
    expect(plans[0]?.pairs).toBeLessThan(plans[1]?.pairs ?? 0)
  })

  it('starts over with other options, another dataset or other code, and removes all of it in the end', async () => {
    const stopAfter = async (overrides: Partial<TrainRequest>): Promise<TrainPlan> => {
      const abort = new AbortController()
      const plans: TrainPlan[] = []
      const onEpoch = (): void => abort.abort(new Error('stopped by the test'))
      const hooks = { onEpoch, onPlan: (plan: TrainPlan) => void plans.push(plan), signal: abort.signal }
      await expect(trainRouter(request('other', { ...hooks, ...overrides }))).rejects.toThrow('stopped')
      return plans[0] as TrainPlan
    }
    const { overrides } = request('other')
    const changed = { ...dataset, pairs: { ...dataset.pairs, label: dataset.pairs.label.with(0, 1) } }
    await stopAfter({})
    for (const other of [{ overrides: { ...overrides, seed: 2 } }, { dataset: changed }, { source: 'newer' }])
      expect((await stopAfter(other)).finishedEpochs).toBe(0)
    await trainRouter(request('other'))
    expect(readdirSync(join(folder, 'other'))).not.toContain(WORK_FOLDER)
    expect(filesBelow(join(folder, 'other'))).toEqual(filesBelow(join(folder, 'straight')))
  })

  it('starts a job over whose state was damaged from outside', async () => {
    const abort = new AbortController()
    const onEpoch = (): void => abort.abort(new Error('stopped by the test'))
    await expect(trainRouter(request('damaged', { onEpoch, signal: abort.signal }))).rejects.toThrow('stopped')
    const work = join(folder, 'damaged', WORK_FOLDER)
    for (const job of readdirSync(work)) writeFileSync(join(work, job, 'state.json'), '{')
    await trainRouter(request('damaged'))
    expect(filesBelow(join(folder, 'damaged'))).toEqual(filesBelow(join(folder, 'straight')))
  })

  it('that diverged says where the last good state is', async () => {
    const keeper = createJobKeeper({ directory: join(folder, 'diverged'), everyMs: 0 })
    const spec = { inputs: 'evidence', hiddenSize: 0, evidenceSize: 2, width: 0, dropout: 0 } as const
    const loss = new AppError('output-not-finite', 'the loss is NaN at step 2 of 9 in epoch 1: lower --lr (now 1)')
    expect(keeper.explain(loss)).toMatchObject({ message: `${loss.message}; no epoch before it was kept` })
    const parameters = initialiseRouter(spec, 1)
    const epoch = { epoch: 1, trainLossNats: 1, validationLossNats: 1, validationPrAuc: null }
    const backend = { parameters, firstMoment: parameters, secondMoment: parameters, step: 9 }
    await keeper.onEpoch(spec, { epochs: [epoch], rng: [1, 2], backend, best: { epoch: 1, score: 1, parameters } })
    expect(keeper.explain(loss)).toMatchObject({
      code: 'output-not-finite',
      message: expect.stringContaining(`the last good state, after epoch 1, is in ${join(folder, 'diverged')}`),
    })
    const other = new Error('something else')
    expect(keeper.explain(other)).toBe(other)
  })
})
