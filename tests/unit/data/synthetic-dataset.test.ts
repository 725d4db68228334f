import { describe, expect, it } from 'vitest'
import { rowOf } from '../../../src/tensor/matrix.ts'
import { syntheticDataset, syntheticTrajectories } from '../../fixtures/synthetic-dataset.ts'

describe('syntheticDataset', () => {
  it('is a function of its options', () => {
    expect(syntheticDataset({ seed: 3 })).toEqual(syntheticDataset({ seed: 3 }))
    expect(syntheticDataset({ seed: 3 }).pairs.label).not.toEqual(syntheticDataset({ seed: 4 }).pairs.label)
  })

  it('labels READY exactly from the boundary on, with both classes present', () => {
    const { pairs, manifest } = syntheticDataset()
    for (let p = 0; p < pairs.count; p++) {
      const boundary = pairs.boundary[p] as number
      expect(pairs.label[p]).toBe(boundary !== -1 && (pairs.checkpoint[p] as number) >= boundary ? 1 : 0)
    }
    expect(manifest.counts.ready / pairs.count).toBeGreaterThan(0.1)
    expect(manifest.counts.ready / pairs.count).toBeLessThan(0.9)
  })

  it('points every pair at rows of its own run, neighbours never at the pair itself', () => {
    const { pairs, vectors } = syntheticDataset()
    for (let p = 0; p < pairs.count; p++) {
      const first = (pairs.hRow[p] as number) - (pairs.interaction[p] as number)
      const top = pairs.topRows.subarray(p * pairs.topK, (p + 1) * pairs.topK)
      const expected = Math.min(pairs.topK, (pairs.checkpoint[p] as number) - 2)
      expect(top.filter((row) => row !== -1)).toHaveLength(expected)
      expect([...top]).not.toContain(pairs.hRow[p])
      for (const row of top.subarray(0, expected)) {
        expect(row).toBeGreaterThanOrEqual(first)
        expect(row).toBeLessThan(first + (pairs.checkpoint[p] as number) - 1)
      }
    }
    const matrix = { ...vectors, data: vectors.data as Float32Array }
    expect(rowOf(matrix, vectors.rows - 1).every(Number.isFinite)).toBe(true)
  })

  it('has trajectories of the same ids and lengths', () => {
    const dataset = syntheticDataset({ groups: 6, trajectoriesPerGroup: 2 })
    const runs = syntheticTrajectories(dataset)
    expect(runs.map((run) => [run.id, run.group, run.domain, run.interactions.length])).toEqual(
      dataset.trajectories.map((row) => [row.id, row.group, row.domain, row.length]),
    )
  })
})
