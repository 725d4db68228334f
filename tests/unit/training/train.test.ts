import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assignParts, rotationSplit } from '../../../data/rotations.ts'
import type { Dataset } from '../../../data/store/dataset.ts'
import { readRotation, readRotationParameters, readRouter } from '../../../models/router/artefact.ts'
import { hashGroups } from '../../../models/router/group-hash.ts'
import { tensorOf, tensorsOf } from '../../../models/router/parameters.ts'
import { createScorer } from '../../../models/router/scorer.ts'
import { topMean } from '../../../src/router/top-mean.ts'
import { matrixFromRows } from '../../../src/tensor/matrix.ts'
import { runInline } from '../../../training/inline-runner.ts'
import { type TrainRequest, trainRouter } from '../../../training/train.ts'
import { createWorkerRunner } from '../../../training/worker-pool.ts'
import { syntheticDataset } from '../../fixtures/synthetic-dataset.ts'
import { vectorRow } from '../../fixtures/vector-row.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'keepready-train-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true, force: true })
})

const SMALL = { width: 16, epochs: 2, learningRate: 1e-2 }
const dataset = syntheticDataset({ groups: 18 })

function request(overrides: Partial<TrainRequest> = {}): TrainRequest {
  return {
    dataset,
    out: join(directory, 'router'),
    inputs: 'auto',
    overrides: SMALL,
    runJobs: runInline,
    node: 'test',
    source: 'test',
    ...overrides,
  }
}

/** Inputs of one pair as the server would compute them. */
function pairInputs(data: Dataset, pair: number) {
  const { pairs, vectors } = data
  const row = (index: number): Float32Array => vectorRow(vectors, index)
  const top = [...pairs.topRows.subarray(pair * pairs.topK, (pair + 1) * pairs.topK)].filter((index) => index >= 0)
  const pool = matrixFromRows(top.map(row), vectors.cols)
  const neighbours = Int32Array.from({ length: pairs.topK }, (_, i) => (i < top.length ? i : -1))
  return {
    h: matrixFromRows([row(pairs.hRow[pair] as number)], vectors.cols),
    q: row(pairs.qRow[pair] as number),
    m: topMean({ vectors: pool, neighbours, k: pairs.topK }),
    x: matrixFromRows(
      [pairs.evidence.slice(pair * pairs.evidenceSize, (pair + 1) * pairs.evidenceSize)],
      pairs.evidenceSize,
    ),
  }
}

describe('trainRouter', () => {
  it('writes five rotations of each input kind and a final model that finds the signal', async () => {
    const manifest = await trainRouter(request({ overrides: { ...SMALL, epochs: 6 } }))
    expect(manifest.rotations).toHaveLength(15)
    for (const rotation of manifest.rotations) expect(rotation.test.withinAuroc).toBeGreaterThan(0.6)
    const router = readRouter(join(directory, 'router'))
    expect(router.manifest.spec).toEqual(manifest.spec)
    expect(router.manifest.trainedInputs).toEqual(['hidden', 'hidden+evidence', 'evidence'])
    expect(router.manifest.servedBecause).toContain(router.spec.inputs)
    expect(router.manifest.operatingPoints).toEqual(manifest.operatingPoints)
    expect(readdirSync(join(directory, 'router')).sort()).toEqual([
      'probe.safetensors',
      'rotations',
      'router.json',
      'router.safetensors',
    ])
  })

  it('holds out the test part: every test pair is predicted once, by a model that never saw its group', async () => {
    await trainRouter(request({ inputs: 'evidence' }))
    const parts = assignParts(dataset.trajectories, 1)
    for (const rotation of [0, 1, 2, 3, 4] as const) {
      const { test } = rotationSplit(parts, rotation)
      const record = readRotation(join(directory, 'router'), { rotation, inputs: 'evidence' })
      const expected = [...dataset.pairs.trajectory.entries()]
        .filter(([, t]) => test.has(dataset.trajectories[t]?.group ?? ''))
        .map(([pair]) => pair)
      expect(record.testPredictions.pairs).toEqual(expected)
    }
    const { groups } = readRouter(join(directory, 'router')).manifest
    expect(groups.validation).toEqual(hashGroups(rotationSplit(parts, 'final').validation))
  })

  it.each(['hidden', 'hidden+evidence', 'evidence'] as const)(
    'scores raw inputs of %s as the trainer scored standardised ones, to 1e-5',
    async (inputs) => {
      await trainRouter(request({ inputs }))
      const record = readRotation(join(directory, 'router'), { rotation: 2, inputs })
      const parameters = readRotationParameters(join(directory, 'router'), record)
      const scorer = createScorer({ spec: record.spec, parameters })
      for (let i = 0; i < 50; i++) {
        const at = Math.floor((i * record.testPredictions.pairs.length) / 50)
        const { logits } = await scorer.score(pairInputs(dataset, record.testPredictions.pairs[at] as number))
        expect(Math.abs((logits[0] as number) - (record.testPredictions.logits[at] as number))).toBeLessThan(1e-5)
      }
      await scorer.close()
    },
  )

  it('gives the same bytes twice', async () => {
    await trainRouter(request({ out: join(directory, 'a'), inputs: 'hidden+evidence' }))
    await trainRouter(request({ out: join(directory, 'b'), inputs: 'hidden+evidence' }))
    for (const file of ['router.json', 'router.safetensors'])
      expect(readFileSync(join(directory, 'a', file)).equals(readFileSync(join(directory, 'b', file)))).toBe(true)
  })

  it('does not depend on the number of processes', async () => {
    await trainRouter(request({ out: join(directory, 'inline'), inputs: 'hidden' }))
    await trainRouter(
      request({ out: join(directory, 'processes'), inputs: 'hidden', runJobs: createWorkerRunner({ workers: 2 }) }),
    )
    for (const file of ['router.json', 'router.safetensors', join('rotations', '3', 'hidden', 'rotation.json')])
      expect(
        readFileSync(join(directory, 'inline', file)).equals(readFileSync(join(directory, 'processes', file))),
        file,
      ).toBe(true)
  })

  it('trains a logistic regression at width 0', async () => {
    await trainRouter(request({ inputs: 'evidence', overrides: { ...SMALL, width: 0, learningRate: 0.03 } }))
    const router = readRouter(join(directory, 'router'))
    expect(tensorsOf(router.spec).map(({ name }) => name)).toEqual(['weights.x', 'b2'])
    expect(tensorOf(router.parameters, 'weights.x')).toHaveLength(3)
  })

  it('keeps the artefact that was there when it is interrupted', async () => {
    await trainRouter(request({ inputs: 'evidence' }))
    const before = readFileSync(join(directory, 'router', 'router.json'), 'utf8')
    const abort = new AbortController()
    const running = trainRouter(
      request({ inputs: 'hidden', signal: abort.signal, onStep: () => abort.abort(new Error('stop')) }),
    )
    await expect(running).rejects.toThrow('stop')
    expect(readFileSync(join(directory, 'router', 'router.json'), 'utf8')).toBe(before)
    expect(readdirSync(join(directory, 'router'))).not.toContain('.staging')
  })

  it('leaves files of others in the directory alone', async () => {
    await trainRouter(request({ inputs: 'evidence' }))
    writeFileSync(join(directory, 'router', 'notes.txt'), 'mine')
    await trainRouter(request({ inputs: 'evidence' }))
    expect(readFileSync(join(directory, 'router', 'notes.txt'), 'utf8')).toBe('mine')
  })

  it('refuses data of one class', async () => {
    const oneClass = { ...dataset, pairs: { ...dataset.pairs, label: new Uint8Array(dataset.pairs.count) } }
    await expect(trainRouter(request({ dataset: oneClass }))).rejects.toMatchObject({
      code: 'training-data-insufficient',
      message: expect.stringContaining('are of one class only (KEEP)'),
    })
  })

  it('refuses options out of range', async () => {
    await expect(trainRouter(request({ overrides: { dropout: 1 } }))).rejects.toMatchObject({
      code: 'option-invalid',
      message: '--dropout is 1, it must be at least 0 and below 1',
    })
  })
})
