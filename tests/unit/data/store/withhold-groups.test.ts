import { describe, expect, it } from 'vitest'
import { assignParts, rotationSplit } from '../../../../data/rotations.ts'
import { openVectorReader } from '../../../../data/store/vector-reader.ts'
import { withholdGroups } from '../../../../data/store/withhold-groups.ts'
import { resolveTrainConfig } from '../../../../training/train-config.ts'
import { trainRotation } from '../../../../training/train-rotation.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 12, minLength: 6, maxLength: 8, hiddenSize: 4 })
const split = rotationSplit(assignParts(dataset.trajectories, 1), 0)
const view = withholdGroups(dataset, split.test)
const isTest = (trajectory: number): boolean => split.test.has(dataset.trajectories[trajectory]?.group ?? '')
const testPair = dataset.pairs.trajectory.findIndex(isTest)

describe('withholdGroups', () => {
  it('holds no pair of the withheld groups, and every other pair as it was, in order', () => {
    expect(Array.from(view.pairs.trajectory).some(isTest)).toBe(false)
    const kept = Array.from(dataset.pairs.trajectory.keys()).filter(
      (pair) => !isTest(dataset.pairs.trajectory[pair] ?? -1),
    )
    expect(view.pairs.count).toBe(kept.length)
    for (const name of ['trajectory', 'interaction', 'checkpoint', 'label', 'hRow', 'viewTokens'] as const)
      expect(Array.from(view.pairs[name])).toEqual(kept.map((pair) => dataset.pairs[name][pair]))
    for (const [name, width] of [
      ['topRows', dataset.pairs.topK],
      ['evidence', dataset.pairs.evidenceSize],
    ] as const)
      expect(Array.from(view.pairs[name])).toEqual(
        kept.flatMap((pair) => Array.from(dataset.pairs[name].subarray(pair * width, (pair + 1) * width))),
      )
    expect(view.manifest.counts.pairs).toBe(kept.length)
  })

  it('throws when a probe reads the vector of a withheld pair, and reads those of the others', () => {
    const reader = openVectorReader(view.vectors)
    for (const column of ['hRow', 'qRow'] as const)
      expect(() => reader.read(dataset.pairs[column][testPair] ?? -1)).toThrow(/withheld: its group is a test group/)
    expect(() => reader.read(dataset.vectors.rows)).toThrow(/withheld/)
    expect(Array.from(reader.read(view.pairs.hRow[0] ?? -1))).toEqual(
      Array.from(openVectorReader(dataset.vectors).read(view.pairs.hRow[0] ?? -1)),
    )
  })

  it('stops a training that takes its pairs from the whole dataset', async () => {
    const spy = { ...view, pairs: dataset.pairs }
    const job = { inputs: 'hidden', rotation: 0, split, config: resolveTrainConfig('hidden', { width: 4 }) } as const
    await expect(trainRotation(spy, { ...job, config: { ...job.config, epochs: 1 } })).rejects.toMatchObject({
      code: 'invariant',
      message: expect.stringContaining('withheld'),
    })
  })

  it('trains the same router bit for bit as the whole dataset does', async () => {
    const config = resolveTrainConfig('hidden+evidence', { width: 4, epochs: 2 })
    const job = { inputs: 'hidden+evidence', rotation: 0, config } as const
    const whole = await trainRotation(dataset, { ...job, split })
    const blind = await trainRotation(view, { ...job, split: { ...split, test: new Set() } })
    expect(blind.parameters).toEqual(whole.parameters)
    expect(blind.validation).toEqual(whole.validation)
  })
})
