import { describe, expect, it } from 'vitest'
import type { Dataset } from '../../../data/store/dataset.ts'
import type { RouterSpec } from '../../../models/router/spec.ts'
import { encodeF16 } from '../../../src/tensor/half.ts'
import { buildBatch, createBatchSource, neighbourRows } from '../../../training/batch.ts'
import { pairsOfGroups } from '../../../training/split-pairs.ts'
import { standardise } from '../../../training/standardise.ts'
import { maxAbsoluteError, pairsOfBatch } from '../../fixtures/router-reference.ts'
import { syntheticDataset } from '../../fixtures/synthetic-dataset.ts'
import { vectorRow } from '../../fixtures/vector-row.ts'

const dataset = syntheticDataset({ groups: 4, hiddenSize: 3, minLength: 5, maxLength: 9 })
const spec: RouterSpec = { inputs: 'hidden+evidence', hiddenSize: 3, evidenceSize: 3, width: 4, dropout: 0 }
const allGroups = (data: Dataset): ReadonlySet<string> => new Set(data.trajectories.map(({ group }) => group))
const trajectories = pairsOfGroups(dataset, allGroups(dataset))

/** [h; q; m; x] of a pair, standardised, the slow way in f64. */
function denseInputs(data: Dataset, pair: number, standardisation: ReturnType<typeof standardise>) {
  const { pairs, vectors } = data
  const row = (index: number): number[] => Array.from(vectorRow(vectors, index))
  const top = neighbourRows(pairs, pair).map(row)
  const raw = {
    h: row(pairs.hRow[pair] as number),
    q: row(pairs.qRow[pair] as number),
    m: Array.from({ length: vectors.cols }, (_, k) => top.reduce((sum, one) => sum + (one[k] ?? 0) / top.length, 0)),
    x: Array.from(pairs.evidence.subarray(pair * pairs.evidenceSize, (pair + 1) * pairs.evidenceSize)),
  }
  return Object.fromEntries(
    Object.entries(raw).map(([block, values]) => {
      const affine = standardisation[block as keyof typeof raw]
      return [block, values.map((value, k) => (value - (affine?.mean[k] ?? 0)) / (affine?.std[k] ?? 1))]
    }),
  )
}

function expectFactorised(data: Dataset): void {
  const lists = pairsOfGroups(data, allGroups(data))
  const standardisation = standardise({ dataset: data, spec, trajectories: lists, positiveWeight: 10 })
  const batch = buildBatch(createBatchSource({ dataset: data, spec, standardisation }), lists, { positiveWeight: 10 })
  const { inputs } = pairsOfBatch(batch, null, 0)
  const real = [...batch.pairIndex].filter((pair) => pair !== -1)
  expect(real).toEqual(lists.flat())
  real.forEach((pair, i) => {
    for (const [block, expected] of Object.entries(denseInputs(data, pair, standardisation)))
      expect(
        maxAbsoluteError(inputs[i]?.[block as 'h'] as ArrayLike<number>, expected),
        `${block} of ${pair}`,
      ).toBeLessThan(2e-6)
  })
}

describe('buildBatch', () => {
  it('gives each pair its standardised h, q, m and x, also where no neighbour exists', () => {
    expect([...dataset.pairs.checkpoint]).toContain(2)
    expectFactorised(dataset)
  })

  it('gives the same when every pair has an h row of its own, as recipe shared-first stores them', () => {
    const { pairs, vectors } = dataset
    // One copy of the vector per pair; neighbours are copies made for the same checkpoint.
    const rowOf = new Map<string, number>()
    const key = (pair: number, row: number): string => `${pairs.trajectory[pair]}/${pairs.checkpoint[pair]}/${row}`
    const data: number[] = Array.from(vectors.data)
    const copy = (pair: number, row: number): number => {
      const known = rowOf.get(key(pair, row))
      if (known !== undefined) return known
      const made = data.length / vectors.cols
      data.push(...vectors.data.subarray(row * vectors.cols, (row + 1) * vectors.cols))
      rowOf.set(key(pair, row), made)
      return made
    }
    const own = {
      ...dataset,
      pairs: {
        ...pairs,
        hRow: pairs.hRow.map((row, pair) => copy(pair, row)),
        topRows: pairs.topRows.map((row, at) => (row < 0 ? row : copy(Math.floor(at / pairs.topK), row))),
      },
    }
    expectFactorised({
      ...own,
      vectors: { ...vectors, rows: data.length / vectors.cols, data: Float32Array.from(data) },
    })
  })

  it('reads f16 vectors as their exact values', () => {
    const f32 = dataset.vectors.data as Float32Array
    const half = { ...dataset, vectors: { ...dataset.vectors, data: encodeF16(f32) } }
    const standardisation = standardise({ dataset, spec, trajectories, positiveWeight: 1 })
    const [wide, narrow] = [dataset, half].map((data) =>
      buildBatch(createBatchSource({ dataset: data, spec, standardisation }), trajectories, { positiveWeight: 1 }),
    )
    expect(maxAbsoluteError(narrow?.blocks[0]?.values ?? [], wide?.blocks[0]?.values ?? [0])).toBeLessThan(5e-3)
    expect(narrow?.blocks[0]?.values).not.toEqual(wide?.blocks[0]?.values)
  })

  it('lets each trajectory weigh the same and a READY pair ten times a KEEP pair', () => {
    const standardisation = standardise({ dataset, spec, trajectories, positiveWeight: 10 })
    const source = createBatchSource({ dataset, spec, standardisation })
    const batch = buildBatch(source, trajectories, { positiveWeight: 10 })
    for (let t = 0; t < batch.trajectories; t++) {
      const rows = Array.from({ length: batch.pairs }, (_, p) => t * batch.pairs + p)
      const plain = rows.reduce(
        (sum, row) => sum + (batch.weights[row] as number) / (batch.labels[row] === 1 ? 10 : 1),
        0,
      )
      expect(plain).toBeCloseTo(1 / batch.trajectories, 6)
    }
    expect([...batch.weights].filter((_, row) => batch.pairIndex[row] === -1).every((weight) => weight === 0)).toBe(
      true,
    )
  })
})
