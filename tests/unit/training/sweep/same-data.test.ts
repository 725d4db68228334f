import { describe, expect, it } from 'vitest'
import type { Dataset } from '../../../../data/store/dataset.ts'
import { evidenceSources, requireSameData, summariseDataset } from '../../../../training/sweep/same-data.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 6, minLength: 5, maxLength: 6 })
const changed = (change: Partial<Dataset>): Dataset => ({ ...dataset, directory: '/other', ...change })
const { pairs, manifest } = dataset

describe('requireSameData', () => {
  it.each([
    ['labels', { pairs: { ...pairs, label: pairs.label.map((label) => 1 - label) } }],
    ['checkpoints', { pairs: { ...pairs, checkpoint: pairs.checkpoint.map((c) => c + 1) } }],
    ['groups', { trajectories: dataset.trajectories.map((one) => ({ ...one, group: `${one.group}x` })) }],
    ['runs', { manifest: { ...manifest, inputs: { ...manifest.inputs, runsSha256: 'f'.repeat(64) } } }],
  ])('names the dataset and says that its %s differ', (what, change) => {
    const both = [summariseDataset(dataset), summariseDataset(changed(change))]
    expect(() => requireSameData(both)).toThrow(`/other does not hold the same data as /synthetic (different: ${what})`)
  })

  it('takes other vectors of the same runs, labels and checkpoints', () => {
    const vectors = { ...dataset.vectors, data: new Float32Array(dataset.vectors.data.length) }
    const both = [summariseDataset(dataset), summariseDataset(changed({ vectors }))]
    requireSameData(both)
    expect(both[0]?.key).not.toBe(both[1]?.key)
  })
})

describe('evidenceSources', () => {
  it('points each dataset at the first one with the same evidence features', () => {
    const other = { ...pairs, evidence: pairs.evidence.map((value) => value + 1) }
    const three = [dataset, changed({ pairs: other }), changed({})].map(summariseDataset)
    expect(evidenceSources(three)).toEqual([0, 1, 0])
  })
})
