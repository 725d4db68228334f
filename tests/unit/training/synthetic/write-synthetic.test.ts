import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assignParts, rotationSplit } from '../../../../data/rotations.ts'
import type { Dataset } from '../../../../data/store/dataset.ts'
import { readDataset, readDatasetTrajectories } from '../../../../data/store/read-dataset.ts'
import { auroc } from '../../../../src/metrics/auroc.ts'
import { splitRows } from '../../../../training/synthetic/split-rows.ts'
import { PAPER_SIZE, type SyntheticSpec, syntheticPairCount } from '../../../../training/synthetic/synthetic-spec.ts'
import { writeSynthetic } from '../../../../training/synthetic/write-synthetic.ts'
import { resolveTrainConfig } from '../../../../training/train-config.ts'
import { trainRotation } from '../../../../training/train-rotation.ts'
import { vectorRow } from '../../../fixtures/vector-row.ts'

const SMALL: SyntheticSpec = {
  ...PAPER_SIZE,
  trajectories: 48,
  lengths: [10, 12],
  hiddenSize: 8,
  latents: 1,
  noise: 0.1,
  memorable: 0,
  offset: 1,
  prevalence: 0.25,
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'keepready-synthetic-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

async function make(name: string, changes: Partial<SyntheticSpec> = {}): Promise<Dataset> {
  await writeSynthetic(join(folder, name), { ...SMALL, ...changes })
  return readDataset(join(folder, name), { verify: true })
}

/** Pooled AUROC of one rotation's test part. */
async function testAuroc(dataset: Dataset): Promise<number> {
  const config = resolveTrainConfig('hidden', {
    width: 32,
    dropout: 0,
    epochs: 8,
    patience: 8,
    learningRate: 0.01,
    decay: 0,
    positiveWeight: 3,
    hiddenScale: 1,
    minFuture: 0,
  })
  const split = rotationSplit(assignParts(dataset.trajectories, 1), 0)
  const { testPredictions } = await trainRotation(dataset, { inputs: 'hidden', rotation: 0, split, config })
  const labels = testPredictions.pairs.map((pair) => dataset.pairs.label[pair] ?? 0)
  return auroc(testPredictions.logits, labels) ?? 0.5
}

describe('writeSynthetic', () => {
  it.each(['once', 'shared-first'] as const)(
    'makes a dataset of recipe %s that reads like any other, with the share of READY pairs asked for',
    async (recipe) => {
      const dataset = await make(`read-${recipe}`, { recipe })
      const { pairs, vectors, manifest } = dataset
      expect(pairs.count).toBe(syntheticPairCount(SMALL))
      expect(manifest.counts.ready / pairs.count).toBeCloseTo(SMALL.prevalence, 2)
      expect((await readDatasetTrajectories(dataset.directory)).length).toBe(SMALL.trajectories)
      const rows = new Set([...pairs.hRow, ...pairs.qRow])
      expect([rows.size, Math.max(...rows) + 1]).toEqual([vectors.rows, vectors.rows])
      expect(vectorRow(vectors, vectors.rows - 1).every(Number.isFinite)).toBe(true)
      for (let pair = 0; pair < pairs.count; pair++)
        expect([...pairs.topRows.subarray(pair * 4, pair * 4 + 4)]).not.toContain(pairs.hRow[pair])
    },
  )

  it('has the pairs of the paper at its size, to a hundredth', () => {
    expect(syntheticPairCount(PAPER_SIZE) / 244_526).toBeCloseTo(1, 2)
  })

  it('holds a signal that a trainer finds in groups it has never seen', async () => {
    expect(await testAuroc(await make('signal'))).toBeGreaterThan(0.7)
  })

  it('shows what is learnt by heart: row splits look good, grouped rotations are at chance', async () => {
    const dataset = await make('memory', { signal: 0, memorable: 1 })
    expect(await testAuroc(splitRows(dataset, 1))).toBeGreaterThan(0.7)
    expect(await testAuroc(dataset)).toBeLessThan(0.6)
  })
})
