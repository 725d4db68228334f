import { describe, expect, it } from 'vitest'
import { assignParts, ROTATIONS, rotationSplit } from '../../../../data/rotations.ts'
import { openVectorReader } from '../../../../data/store/vector-reader.ts'
import { gridConfigurations } from '../../../../training/sweep/search-space.ts'
import { createTestVault, type TestVault } from '../../../../training/sweep/test-vault.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 12, minLength: 5, maxLength: 7, hiddenSize: 4 })
const parts = assignParts(dataset.trajectories, 1)
const configurations = gridConfigurations({
  evidenceSource: [0],
  inputs: ['hidden'],
  values: { positiveWeight: [1, 2, 5] },
  fixed: {},
})
const score = (withinAuroc: number | null, prAuc: number | null = null) => ({ withinAuroc, prAuc })

function open(): TestVault {
  return createTestVault({
    read: () => Promise.resolve(dataset),
    configurations,
    splitOf: (rotation) => rotationSplit(parts, ROTATIONS[rotation] ?? 0),
  })
}

describe('createTestVault', () => {
  it('gives no test pair and no test vector before the choice', async () => {
    const view = await open().view(0, 2)
    const { test } = rotationSplit(parts, 2)
    for (const t of view.pairs.trajectory) expect(test.has(dataset.trajectories[t]?.group ?? '')).toBe(false)
    const probe = dataset.pairs.trajectory.findIndex((t) => test.has(dataset.trajectories[t]?.group ?? ''))
    expect(() => openVectorReader(view.vectors).read(dataset.pairs.qRow[probe] ?? -1)).toThrow(/withheld/)
  })

  it('chooses the best on validation and opens the whole dataset for that choice', async () => {
    const vault = open()
    const choice = vault.seal(1, [score(0.6), score(0.8), score(0.8)])
    expect(choice).toMatchObject({ rotation: 1, number: 1, configuration: configurations[1] })
    expect((await vault.openTest(choice)).pairs.count).toBe(dataset.pairs.count)
  })

  it('does not open for a choice that it did not make: a made-up one, a copy, one of another vault', () => {
    const vault = open()
    const other = open().seal(0, [score(0.6), score(0.8), score(0.7)])
    const madeUp = { rotation: 0, number: 0, configuration: configurations[0] ?? other.configuration }
    expect(() => vault.openTest(madeUp)).toThrow(/opens with its sealed choice only/)
    expect(() => vault.openTest(other)).toThrow(/sealed choice only/)
    const own = vault.seal(0, [score(0.6), score(0.8), score(0.7)])
    expect(() => vault.openTest({ ...own, number: 2 })).toThrow(/sealed choice only/)
  })

  it('chooses once, and only when every configuration has been tried', () => {
    const vault = open()
    expect(() => vault.seal(0, [score(0.6)])).toThrow(/1 of 3 validation scores/)
    vault.seal(0, [score(0.6), score(0.7), score(0.8)])
    expect(() => vault.seal(0, [score(0.9), score(0.7), score(0.8)])).toThrow(/made its choice already/)
  })

  it('leaves out what diverged, falls back to PR-AUC, and says so when nothing is left', () => {
    expect(open().seal(0, [null, score(0.4), null]).number).toBe(1)
    expect(open().seal(0, [score(null, 0.2), score(null, 0.3), null]).number).toBe(1)
    expect(() => open().seal(3, [null, null, null])).toThrow(/rotation 3: every loss diverged; give smaller --lr/)
  })
})
