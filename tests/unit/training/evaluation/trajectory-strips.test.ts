import { describe, expect, it } from 'vitest'
import { createRotationTest } from '../../../../training/evaluation/rotation-test.ts'
import { STRIP_SIDE, trajectoryStrips } from '../../../../training/evaluation/trajectory-strips.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

function stripsOf(options: { readonly groups: number; readonly minLength: number; readonly maxLength: number }) {
  const dataset = syntheticDataset({ ...options, hiddenSize: 2 })
  const test = createRotationTest(dataset, {
    rotation: 0,
    testGroups: new Set(dataset.trajectories.map((run) => run.group)),
    resamples: 1,
    seed: 1,
  })
  const age = (pair: number): number => (dataset.pairs.checkpoint[pair] ?? 0) - (dataset.pairs.interaction[pair] ?? 0)
  const scores = Float64Array.from(test.rows, age)
  const rotation = { test, scores, probabilities: null, calibrated: null, operatingPoints: [] }
  return trajectoryStrips(dataset, [rotation], 'precision')
}

describe('trajectory strips', () => {
  it('thin a long run evenly and say so, the first and the last interaction among those shown', () => {
    const strip = stripsOf({ groups: 2, minLength: 70, maxLength: 70 })[0]
    expect(strip?.interactions).toHaveLength(STRIP_SIDE)
    expect(strip?.checkpoints).toHaveLength(STRIP_SIDE)
    expect(strip?.interactions[0]).toBe(0)
    expect(strip?.interactions.at(-1)).toBe(67)
    expect(strip?.checkpoints.at(-1)).toBe(69)
    expect(strip).toMatchObject({ thinned: true, length: 70, tau: null })
  })

  it('show a run once, as best or as worst, when there are few', () => {
    const strips = stripsOf({ groups: 3, minLength: 10, maxLength: 12 })
    expect(strips.map((one) => one.rank)).toEqual(['best', 'best', 'worst'])
    expect(new Set(strips.map((one) => one.run)).size).toBe(3)
    expect(strips.every((one) => !one.thinned)).toBe(true)
  })
})
