import { describe, expect, it } from 'vitest'
import { createRng, deriveSeed, shuffled } from '../../src/rng.ts'

describe('rng', () => {
  it('repeats its draws for a seed and resumes from its state', () => {
    const first = createRng(7)
    const before = [first.nextUint32(), first.nextFloat(), first.nextNormal()]
    const again = createRng(7)
    expect([again.nextUint32(), again.nextFloat(), again.nextNormal()]).toEqual(before)
    const resumed = createRng(first.state())
    expect(resumed.nextUint32()).toBe(first.nextUint32())
  })

  it('draws integers below any bound without leaving it', () => {
    const rng = createRng(1)
    const counts = new Array<number>(6).fill(0)
    for (let i = 0; i < 6000; i++) {
      const value = rng.nextBelow(6)
      counts[value] = (counts[value] ?? 0) + 1
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(6000)
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150)
  })

  it('draws normals with mean 0 and variance 1', () => {
    const rng = createRng(3)
    const draws = Array.from({ length: 20_000 }, () => rng.nextNormal())
    const mean = draws.reduce((sum, x) => sum + x, 0) / draws.length
    const variance = draws.reduce((sum, x) => sum + (x - mean) ** 2, 0) / draws.length
    expect(Math.abs(mean)).toBeLessThan(0.03)
    expect(Math.abs(variance - 1)).toBeLessThan(0.04)
  })

  it('shuffles into a permutation and leaves its input alone', () => {
    const items = [1, 2, 3, 4, 5, 6, 7, 8]
    const out = shuffled(items, createRng(5))
    expect(out).not.toEqual(items)
    expect([...out].sort()).toEqual(items)
    expect(items[0]).toBe(1)
  })

  it('derives different seeds for different purposes', () => {
    expect(deriveSeed(1, 'init', 0)).not.toBe(deriveSeed(1, 'init', 1))
    expect(deriveSeed(1, 'init')).toBe(deriveSeed(1, 'init'))
  })
})
