import { describe, expect, it } from 'vitest'
import { assignParts, rotationSplit } from '../../../../data/rotations.ts'
import { designDomains, designFractions, designSeeds } from '../../../../training/studies/study-design.ts'
import { syntheticDataset } from '../../../fixtures/synthetic-dataset.ts'

const { trajectories } = syntheticDataset({
  groups: 36,
  trajectoriesPerGroup: 2,
  domains: ['a', 'b', 'c'],
  minLength: 5,
  maxLength: 6,
})
const parts = assignParts(trajectories, 1)
const domainOf = new Map(trajectories.map(({ group, domain }) => [group, domain]))

describe('designFractions', () => {
  const { points } = designFractions(trajectories, [100, 10, 50, 25], 1)

  it('takes nested subsets that grow to the whole training part; validation and test stay', () => {
    expect(points.map(({ label }) => label)).toEqual(['10 %', '25 %', '50 %', '100 %'])
    for (const rotation of [0, 1, 2, 3, 4] as const) {
      const whole = rotationSplit(parts, rotation)
      const folds = points.map((point) => point.folds[rotation]?.split)
      expect(folds.map((split) => split?.train.size)).toEqual([2, 6, 12, 24])
      folds.slice(1).forEach((larger, at) => {
        for (const group of folds[at]?.train ?? []) expect(larger?.train.has(group)).toBe(true)
      })
      expect(folds.at(-1)).toEqual(whole)
      for (const split of folds) expect(split).toMatchObject({ validation: whole.validation, test: whole.test })
    }
  })

  it('keeps the shares of the domains in every subset, as nearly as whole groups allow', () => {
    for (const { folds } of points)
      for (const { split } of folds) {
        const counts = ['a', 'b', 'c'].map((name) => [...split.train].filter((g) => domainOf.get(g) === name).length)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      }
  })

  it('draws other groups for another seed, and the same for the same', () => {
    const trainOf = (seed: number) => [
      ...(designFractions(trajectories, [25], seed).points[0]?.folds[0]?.split.train ?? []),
    ]
    expect(trainOf(1)).toEqual(trainOf(1))
    expect(trainOf(1)).not.toEqual(trainOf(2))
  })

  it.each([[[0]], [[101]], [[]]])('refuses %j', (percents) => {
    expect(() => designFractions(trajectories, percents, 1)).toThrow(/above 0 and up to 100/)
  })
})

describe('designDomains', () => {
  it('trains and validates without the domain, and tests on it alone, each group once', () => {
    const { points } = designDomains(trajectories, 1)
    expect(points.map(({ label }) => label)).toEqual(['a', 'b', 'c'])
    for (const { label, folds, reference } of points) {
      const tested = folds.flatMap(({ split }) => [...split.test])
      expect(new Set(tested).size).toBe(tested.length)
      folds.forEach(({ split }, at) => {
        for (const group of [...split.train, ...split.validation]) expect(domainOf.get(group)).not.toBe(label)
        for (const group of split.test) {
          expect(domainOf.get(group)).toBe(label)
          expect(reference[at]?.split.test.has(group)).toBe(true)
        }
      })
    }
  })

  it('keeps a group that has runs of two domains out of training for both', () => {
    const merged = trajectories.map((run, i) => (i === 1 ? { ...run, domain: 'b' } : run))
    const group = merged[0]?.group ?? ''
    const { points } = designDomains(merged, 1)
    for (const { label, folds } of points)
      if (label !== 'c') expect(folds.some(({ split }) => split.train.has(group))).toBe(false)
  })

  it('refuses a single domain', () => {
    const one = trajectories.map((run) => ({ ...run, domain: 'a' }))
    expect(() => designDomains(one, 1)).toThrow(/the dataset holds a: extract runs of two domains/)
  })
})

describe('designSeeds', () => {
  it('keeps the groups and changes the seed', () => {
    const { points } = designSeeds(trajectories, [4, 5], 1)
    expect(points.map(({ seed, x }) => [seed, x])).toEqual([
      [4, 4],
      [5, 5],
    ])
    expect(points[0]?.folds).toEqual(points[1]?.folds)
    expect(points[0]?.folds[2]?.split).toEqual(rotationSplit(parts, 2))
  })

  it('refuses fewer than two', () => {
    expect(() => designSeeds(trajectories, [1], 1)).toThrow(/at least two seeds/)
  })
})
