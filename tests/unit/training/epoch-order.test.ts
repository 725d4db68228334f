import { describe, expect, it } from 'vitest'
import { createRng } from '../../../src/rng.ts'
import { epochOrder, MAX_PAIRS_PER_VISIT, pairsPerEpoch } from '../../../training/epoch-order.ts'

/** Pair numbers of run t: t * 10,000 and up. */
const run = (t: number, pairs: number): readonly number[] => Array.from({ length: pairs }, (_, i) => t * 10_000 + i)

describe('epochOrder', () => {
  it('visits every run four times and every pair of a middling run once', () => {
    const runs = [run(0, 200), run(1, 80), run(2, 400), run(3, 64), run(4, 120)]
    const batches = epochOrder(runs, createRng(1))
    expect(batches.map((slots) => slots.length)).toEqual([4, 4, 4, 4, 4])
    const seen = batches.flat(2).toSorted((a, b) => a - b)
    expect(seen).toEqual(runs.flat())
    expect(seen).toHaveLength(pairsPerEpoch(runs))
    for (const slot of batches.flat()) expect(new Set(slot.map((pair) => Math.floor(pair / 10_000))).size).toBe(1)
  })

  it('takes at most 256 pairs of a long run and all pairs of a short one', () => {
    const batches = epochOrder([run(0, 5000), run(1, 5), run(2, 30), run(3, 1)], createRng(2))
    const sizes = (t: number): number[] =>
      batches
        .flat()
        .filter((slot) => Math.floor((slot[0] ?? 0) / 10_000) === t)
        .map((slot) => slot.length)
    expect(sizes(0)).toEqual([256, 256, 256, 256])
    expect(MAX_PAIRS_PER_VISIT).toBe(256)
    expect(sizes(1)).toEqual([5, 5, 5, 5])
    expect(sizes(2)).toEqual([16, 16, 16, 16])
    expect(sizes(3)).toEqual([1, 1, 1, 1])
    for (const slot of batches.flat()) expect(new Set(slot).size).toBe(slot.length)
  })

  it('is another order for another state of the generator', () => {
    const runs = [run(0, 40), run(1, 40)]
    expect(epochOrder(runs, createRng(1))).toEqual(epochOrder(runs, createRng(1)))
    expect(epochOrder(runs, createRng(1))).not.toEqual(epochOrder(runs, createRng(2)))
  })
})
