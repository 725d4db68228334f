import { describe, expect, it } from 'vitest'
import type { Dataset } from '../../../../data/store/dataset.ts'
import { initialiseRouter } from '../../../../models/router/initialise.ts'
import type { RouterSpec } from '../../../../models/router/spec.ts'
import { encodeF16 } from '../../../../src/tensor/half.ts'
import { createRotationTest } from '../../../../training/evaluation/rotation-test.ts'
import type { StudiedRotation } from '../../../../training/evaluation/router-study.ts'
import { storagePerturbation } from '../../../../training/evaluation/storage-perturbation.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 12, minLength: 9, maxLength: 12 })
const spec: RouterSpec = { inputs: 'hidden+evidence', hiddenSize: 8, evidenceSize: 3, width: 6, dropout: 0 }
const model = { spec, parameters: initialiseRouter(spec, 1) }

function query(source: Dataset, threshold: number | null = 0) {
  const test = createRotationTest(source, {
    rotation: 0,
    testGroups: new Set(source.trajectories.map((run) => run.group)),
    resamples: 1,
    seed: 1,
  })
  const scores = new Float64Array(test.rows.length)
  const rotation: StudiedRotation = {
    held: {
      inputs: spec.inputs,
      rotation: 0,
      pairs: test.rows,
      logits: scores,
      operatingPoints: [],
      calibration: null,
    },
    scores: {
      test,
      scores,
      probabilities: scores,
      calibrated: null,
      operatingPoints: [{ name: 'f1', threshold, tau: null }],
    },
  }
  return { dataset: source, rotations: [rotation], point: 'f1', modelOf: () => model, seed: 2 }
}

describe('the perturbation by f16 storage', () => {
  it('moves logits by about the rounding of f16 and hardly any decision', async () => {
    const found = await storagePerturbation(query(dataset))
    const largest = found?.shiftQuantiles.at(-1)?.shift ?? 1
    expect(found?.pairs).toBeGreaterThan(20)
    expect(largest).toBeGreaterThan(1e-7)
    expect(largest).toBeLessThan(0.01)
    expect(found?.kept).toBeGreaterThan(0.9)
    expect(found?.description).toContain('stored (f32)')
  })

  it('moves what is stored as f16 inside its rounding interval, the same way each time', async () => {
    const { vectors } = dataset
    if (vectors.kind !== 'memory' || vectors.data instanceof Uint16Array) throw new Error('f32 in memory expected')
    const half: Dataset = { ...dataset, vectors: { ...vectors, data: encodeF16(vectors.data) } }
    const found = await storagePerturbation(query(half))
    expect(found?.description).toContain('stored (f16)')
    expect(found?.shiftQuantiles.at(-1)?.shift).toBeLessThan(0.01)
    expect(await storagePerturbation(query(half))).toEqual(found)
  })

  it('has nothing to measure without a threshold or without vectors', async () => {
    expect(await storagePerturbation(query(dataset, null))).toBeNull()
    const blind: RouterSpec = { ...spec, inputs: 'evidence', hiddenSize: 0 }
    const evidence = { spec: blind, parameters: initialiseRouter(blind, 1) }
    expect(await storagePerturbation({ ...query(dataset), modelOf: () => evidence })).toBeNull()
  })
})
