import { describe, expect, it } from 'vitest'
import type { RouterSpec } from '../../../models/router/spec.ts'
import { neighbourRows } from '../../../training/batch.ts'
import { pairsOfGroups } from '../../../training/split-pairs.ts'
import { standardise } from '../../../training/standardise.ts'
import { maxAbsoluteError } from '../../fixtures/router-reference.ts'
import { syntheticDataset } from '../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 5, hiddenSize: 3 })
const spec: RouterSpec = { inputs: 'hidden+evidence', hiddenSize: 3, evidenceSize: 3, width: 4, dropout: 0 }
const trajectories = pairsOfGroups(dataset, new Set(dataset.trajectories.slice(0, 3).map(({ group }) => group)))

describe('standardise', () => {
  it('weighs rows as the loss does: each trajectory the same, READY ten times', () => {
    const { pairs, vectors } = dataset
    const value: Record<string, (pair: number, k: number) => number> = {
      h: (pair, k) => vectors.data[(pairs.hRow[pair] as number) * 3 + k] as number,
      q: (pair, k) => vectors.data[(pairs.qRow[pair] as number) * 3 + k] as number,
      m: (pair, k) => {
        const rows = neighbourRows(pairs, pair)
        return rows.reduce((sum, row) => sum + (vectors.data[row * 3 + k] as number) / rows.length, 0)
      },
      x: (pair, k) => pairs.evidence[pair * 3 + k] as number,
    }
    const weights = trajectories.flatMap((list) => list.map((pair) => (pairs.label[pair] ? 10 : 1) / list.length))
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const average = (values: readonly number[]): number =>
      values.reduce((sum, one, i) => sum + (one * (weights[i] as number)) / total, 0)
    const found = standardise({ dataset, spec, trajectories, positiveWeight: 10 })
    for (const block of ['h', 'q', 'm', 'x'] as const)
      for (let k = 0; k < 3; k++) {
        const values = trajectories.flat().map((pair) => value[block]?.(pair, k) as number)
        const mean = average(values)
        const std = Math.sqrt(average(values.map((one) => (one - mean) ** 2)))
        expect(found[block]?.mean[k], `${block} ${k}`).toBeCloseTo(mean, 10)
        expect(found[block]?.std[k], `${block} ${k}`).toBeCloseTo(std, 10)
      }
  })

  it('brings h, q and m to the asked scale and leaves x alone', () => {
    const plain = standardise({ dataset, spec, trajectories, positiveWeight: 1 })
    const quiet = standardise({ dataset, spec, trajectories, positiveWeight: 1, hiddenScale: 0.1 })
    for (const block of ['h', 'q', 'm'] as const) {
      expect(quiet[block]?.mean).toEqual(plain[block]?.mean)
      expect(quiet[block]?.std[0]).toBeCloseTo(10 * (plain[block]?.std[0] ?? 0), 9)
    }
    expect(quiet.x).toEqual(plain.x)
  })

  it('only centres a dimension that does not vary', () => {
    const evidence = dataset.pairs.evidence.map((value, i) => (i % 3 === 1 ? 4 : value))
    const constant = { ...dataset, pairs: { ...dataset.pairs, evidence } }
    const { x } = standardise({ dataset: constant, spec, trajectories, positiveWeight: 1 })
    expect(x?.std[1]).toBe(1)
    expect(maxAbsoluteError([x?.mean[1] ?? 0], [4])).toBeLessThan(1e-12)
  })
})
