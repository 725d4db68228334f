import { describe, expect, it } from 'vitest'
import { assignParts, rotationSplit } from '../../../../data/rotations.ts'
import type { Dataset } from '../../../../data/store/dataset.ts'
import { auroc } from '../../../../src/metrics/auroc.ts'
import { withinTrajectoryAuroc } from '../../../../src/metrics/within-trajectory.ts'
import { ALL_BASELINES } from '../../../../training/baselines/all-baselines.ts'
import type { BaselineContext, BaselineName } from '../../../../training/baselines/baseline.ts'
import { createObservationCorpus } from '../../../../training/baselines/observation-corpus.ts'
import { fitTfidf, tfidfRows } from '../../../../training/baselines/tfidf.ts'
import { syntheticDataset, syntheticTrajectories } from '../../../fixtures/synthetic-dataset.ts'

const dataset = syntheticDataset({ groups: 36, signal: 6 })
const trajectories = syntheticTrajectories(dataset)
const split = rotationSplit(assignParts(dataset.trajectories, 1), 0)
const rowsIn = (groups: ReadonlySet<string>): Int32Array =>
  Int32Array.from({ length: dataset.pairs.count }, (_, pair) => pair).filter((pair) =>
    groups.has(dataset.trajectories[dataset.pairs.trajectory[pair] ?? 0]?.group ?? ''),
  )
const train = rowsIn(split.train)
const validation = rowsIn(split.validation)
const test = rowsIn(split.test)

function contextOf(source: Dataset, runs = trajectories): BaselineContext {
  return { dataset: source, corpus: createObservationCorpus(source.pairs, runs), train, validation, seed: 5 }
}

function scoresOf(name: BaselineName, context: BaselineContext): Float64Array {
  const baseline = ALL_BASELINES.find((candidate) => candidate.name === name)
  if (baseline === undefined) throw new Error(`no baseline ${name}`)
  return baseline.fit(context)(test)
}

const labels = Array.from(test, (pair) => dataset.pairs.label[pair] ?? 0)
const runs = Array.from(test, (pair) => dataset.pairs.trajectory[pair] ?? 0)
const within = (scores: Float64Array): number => withinTrajectoryAuroc(scores, labels, runs) ?? 0

describe('baselines', () => {
  it.each(ALL_BASELINES.map((baseline) => baseline.name))(
    '%s gives the same scores whatever the labels and the text of test groups are',
    (name) => {
      const flipped = dataset.pairs.label.slice()
      for (const pair of test) flipped[pair] = 1 - (flipped[pair] ?? 0)
      const plain = scoresOf(name, contextOf(dataset))
      expect(scoresOf(name, contextOf({ ...dataset, pairs: { ...dataset.pairs, label: flipped } }))).toEqual(plain)
      const otherText = trajectories.map((run) =>
        split.test.has(run.group)
          ? {
              ...run,
              interactions: run.interactions.map((interaction) => ({
                ...interaction,
                observations: interaction.observations.map((one) => ({
                  ...one,
                  content: `${one.content} zebra zebra`,
                })),
              })),
            }
          : run,
      )
      expect(scoresOf(name, contextOf(dataset, otherText))).toEqual(plain)
    },
  )

  it('give finite scores, and probabilities where they say so', () => {
    for (const baseline of ALL_BASELINES) {
      const scores = baseline.fit(contextOf(dataset))(test)
      expect(scores).toHaveLength(test.length)
      expect(scores.every((score) => Number.isFinite(score))).toBe(true)
      if (baseline.probabilistic) expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true)
    }
  })

  it('cannot rank inside a trajectory by the domain alone', () => {
    expect(within(scoresOf('domain', contextOf(dataset)))).toBe(0.5)
  })

  it('find in the synthetic runs what was put there: age, and words of the observation', () => {
    const age = within(scoresOf('age', contextOf(dataset)))
    expect(age).toBeGreaterThan(0.6)
    expect(within(scoresOf('age-position-length-lr', contextOf(dataset)))).toBeGreaterThan(age - 0.05)
    expect(within(scoresOf('observation-tfidf-lr', contextOf(dataset)))).toBeGreaterThan(0.75)
    expect(within(scoresOf('h-only', contextOf(dataset)))).toBeGreaterThan(0.6)
    expect(Math.abs((auroc(scoresOf('random', contextOf(dataset)), labels) ?? 0) - 0.5)).toBeLessThan(0.1)
  })

  it('find what h and q say together, and nothing where the vectors know nothing', () => {
    const hOnly = within(scoresOf('h-only', contextOf(dataset)))
    expect(within(scoresOf('hq-only', contextOf(dataset)))).toBeGreaterThan(hOnly + 0.02)
    expect(within(scoresOf('hqm-lr', contextOf(dataset)))).toBeGreaterThan(hOnly + 0.02)
    const blind = { ...dataset.vectors, data: new Float32Array(dataset.vectors.rows * dataset.vectors.cols) }
    expect(within(scoresOf('hqm-lr', contextOf({ ...dataset, vectors: blind } as Dataset)))).toBe(0.5)
  })

  it('turn the sign of a single number to what training groups say', () => {
    const flipped = dataset.pairs.label.map((label) => 1 - label)
    const plain = scoresOf('age', contextOf(dataset))
    const turned = scoresOf('age', contextOf({ ...dataset, pairs: { ...dataset.pairs, label: flipped } }))
    expect(turned).toEqual(plain.map((score) => -score))
  })
})

describe('TF-IDF', () => {
  it('learns its vocabulary from training documents only', () => {
    const marked = trajectories.map((run) => ({
      ...run,
      interactions: run.interactions.map((interaction) => ({
        ...interaction,
        observations: interaction.observations.map((one) => ({
          ...one,
          content: `${one.content} ${split.test.has(run.group) ? 'onlytest' : 'onlytrain'}`,
        })),
      })),
    }))
    const corpus = createObservationCorpus(dataset.pairs, marked)
    const model = fitTfidf(corpus, [...new Set(Array.from(train, (pair) => corpus.documentOf[pair] ?? 0))])
    const vocabulary = [...model.columnOf.keys()].map((word) => corpus.words[word])
    expect(corpus.words).toContain('onlytest')
    expect(vocabulary).toContain('onlytrain')
    expect(vocabulary).not.toContain('onlytest')
  })

  it('weighs words as scikit-learn with sublinear counts does, and keeps only the most frequent', () => {
    const corpus = {
      documentOf: Int32Array.of(0, 1),
      words: ['aa', 'bb', 'cc'],
      documents: [
        { words: Uint32Array.of(0, 1), counts: Uint32Array.of(1, 3) },
        { words: Uint32Array.of(0), counts: Uint32Array.of(1) },
      ],
    }
    const model = fitTfidf(corpus, [0, 1], { maxWords: 2, minDocuments: 1 })
    const rows = tfidfRows(corpus, [0], model)
    const a = 1
    const b = (1 + Math.log(3)) * (Math.log(3 / 2) + 1)
    expect(rows.values[0]).toBeCloseTo(a / Math.hypot(a, b), 12)
    expect(rows.values[1]).toBeCloseTo(b / Math.hypot(a, b), 12)
    expect(fitTfidf(corpus, [0, 1], { maxWords: 1, minDocuments: 1 }).columnOf.has(1)).toBe(false)
    expect(fitTfidf(corpus, [0, 1], { maxWords: 9, minDocuments: 2 }).columnOf.has(1)).toBe(false)
  })
})
