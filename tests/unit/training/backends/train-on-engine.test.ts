import { describe, expect, it } from 'vitest'
import { assignParts, rotationSplit } from '../../../../data/rotations.ts'
import type { EngineName } from '../../../../training/backends/engine-names.ts'
import { resolveTrainConfig } from '../../../../training/train-config.ts'
import { type TrainedRouter, trainRotation } from '../../../../training/train-rotation.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 18 })
const split = rotationSplit(assignParts(dataset.trajectories, 1), 0)
const config = resolveTrainConfig('hidden+evidence', { width: 16, epochs: 3, learningRate: 1e-2 })

function trainOn(backend: EngineName | undefined): Promise<TrainedRouter> {
  return trainRotation(dataset, { inputs: 'hidden+evidence', rotation: 0, split, config, backend })
}

describe('trainRotation on an engine', () => {
  it('says which engine trained, ort-cpu unless told otherwise', async () => {
    expect((await trainOn(undefined)).engine.backend).toBe('ort-cpu')
    expect((await trainOn('tfjs-wasm')).engine).toEqual({ backend: 'tfjs-wasm', version: '4.22.0' })
  })

  it('learns the same router on tfjs-wasm as on ort-cpu, but for rounding', async () => {
    const [ort, tfjs] = [await trainOn('ort-cpu'), await trainOn('tfjs-wasm')]
    ort.epochs.forEach((epoch, e) => {
      const other = tfjs.epochs[e]
      expect(Math.abs((other?.trainLossNats ?? Number.NaN) / epoch.trainLossNats - 1), `epoch ${e + 1}`).toBeLessThan(
        1e-4,
      )
    })
    expect(tfjs.bestEpoch).toBe(ort.bestEpoch)
    expect(tfjs.test.withinAuroc).toBeCloseTo(ort.test.withinAuroc ?? Number.NaN, 3)
  })
})
