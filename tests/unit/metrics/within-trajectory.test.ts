import { describe, expect, it } from 'vitest'
import { auroc } from '../../../src/metrics/auroc.ts'
import { withinTrajectories, withinTrajectoryAuroc } from '../../../src/metrics/within-trajectory.ts'

describe('within-trajectory AUROC', () => {
  it('gives a score that only recognises the trajectory no credit, where the pooled AUROC does', () => {
    const trajectory = [0, 0, 0, 0, 1, 1, 1, 1]
    const labels = [1, 1, 1, 0, 0, 0, 0, 1]
    const scores = trajectory.map((id) => 1 - id)
    expect(auroc(scores, labels)).toBe(0.75)
    expect(withinTrajectoryAuroc(scores, labels, trajectory)).toBe(0.5)
  })

  it('leaves trajectories of one class out and counts each other one once', () => {
    const trajectory = [7, 7, 3, 3, 3, 3, 9, 9]
    const labels = [1, 0, 1, 0, 0, 0, 0, 0]
    const scores = [2, 1, 0, 1, 2, 3, 5, 6]
    const metrics = withinTrajectories(scores, labels, trajectory)
    expect(metrics.map(({ trajectory: id, pairs, auroc: area }) => [id, pairs, area])).toEqual([
      [7, 2, 1],
      [3, 4, 0],
    ])
    expect(withinTrajectoryAuroc(scores, labels, trajectory)).toBe(0.5)
    expect(withinTrajectoryAuroc([1], [1], [0])).toBeNull()
  })
})
