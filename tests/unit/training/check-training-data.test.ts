import { describe, expect, it } from 'vitest'
import { assignParts, type Part } from '../../../data/rotations.ts'
import type { Dataset } from '../../../data/store/dataset.ts'
import { encodeF16 } from '../../../src/tensor/half.ts'
import { checkTrainingData, requireReadyParts } from '../../../training/check-training-data.ts'
import { syntheticDataset } from '../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 12, hiddenSize: 4 })
const check = (data: Dataset) => () => checkTrainingData(data, { vectors: true })
const raised = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) })

function withPairs(changes: Partial<Dataset['pairs']>): Dataset {
  return { ...dataset, pairs: { ...dataset.pairs, ...changes } }
}

describe('checkTrainingData', () => {
  it('lets good data pass', () => {
    expect(check(dataset)).not.toThrow()
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('names the vector that holds %d, and whose it is', (value) => {
    const row = dataset.pairs.qRow[5] ?? 0
    const data = Float32Array.from(dataset.vectors.data)
    data[row * 4 + 2] = value
    const message = new RegExp(
      `vector ${row} \\(q of run run-0, checkpoint ${dataset.pairs.checkpoint[5]}\\).*dimension 2`,
    )
    expect(check({ ...dataset, vectors: { ...dataset.vectors, data } })).toThrow(raised('dataset-invalid', message))
    const half = encodeF16(Float32Array.from(dataset.vectors.data))
    half[row * 4 + 2] = Number.isNaN(value) ? 0x7e00 : 0x7c00
    const broken = { ...dataset, vectors: { ...dataset.vectors, data: half } }
    expect(check(broken)).toThrow(raised('dataset-invalid', message))
    expect(() => checkTrainingData(broken, { vectors: false })).not.toThrow()
  })

  it('names the pair whose evidence is no number', () => {
    const evidence = Float32Array.from(dataset.pairs.evidence)
    evidence[3 * 4 + 1] = Number.NaN
    expect(check(withPairs({ evidence }))).toThrow(
      raised(
        'dataset-invalid',
        /evidence relative-position of pair 4 \(run run-0, interaction \d+ at checkpoint \d+\)/,
      ),
    )
  })

  it('names a pair that stands twice', () => {
    const interaction = dataset.pairs.interaction.with(2, dataset.pairs.interaction[1] ?? 0)
    const checkpoint = dataset.pairs.checkpoint.with(2, dataset.pairs.checkpoint[1] ?? 0)
    expect(check(withPairs({ interaction, checkpoint }))).toThrow(
      raised('dataset-invalid', /pair 2 \(run run-0, .*\) stands at 1 already/),
    )
  })

  it.each([
    [0, 'KEEP'],
    [1, 'READY'],
  ])('refuses labels that are all %d', (label, name) => {
    expect(check(withPairs({ label: new Uint8Array(dataset.pairs.count).fill(label) }))).toThrow(
      raised('training-data-insufficient', new RegExp(`one class only \\(${name}\\)`)),
    )
  })
})

describe('requireReadyParts', () => {
  const parts = assignParts(dataset.trajectories, 1)
  /** Labels that are READY in these parts only. */
  const readyIn = (kept: readonly Part[]): Dataset =>
    withPairs({
      label: dataset.pairs.label.map((label, pair) => {
        const { group = '' } = dataset.trajectories[dataset.pairs.trajectory[pair] ?? 0] ?? {}
        return kept.includes(parts.get(group) ?? 0) ? label : 0
      }),
    })

  it('names the parts in which nothing could be tested, and a seed that deals otherwise', () => {
    expect(() => requireReadyParts(dataset, parts)).not.toThrow()
    expect(() => requireReadyParts(readyIn([0, 1, 3, 4, 5]), parts)).toThrow(
      raised('training-data-insufficient', /part 2 \(2 groups\) of the 6 parts .* holds no READY pair.*--seed \d+/),
    )
  })

  it('promises no seed where too few groups have a READY pair', () => {
    const scarce = readyIn([0])
    expect(() => requireReadyParts(scarce, parts)).toThrow(raised('training-data-insufficient', /label more runs$/))
  })
})
