import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { cohenKappa } from '../../../src/metrics/cohen-kappa.ts'

const count = fc.integer({ min: 0, max: 1_000_000 })

/** The definition, written out. */
function byDefinition(bothReady: number, onlyA: number, onlyB: number, bothKeep: number): number {
  const all = bothReady + onlyA + onlyB + bothKeep
  const observed = (bothReady + bothKeep) / all
  const readyA = (bothReady + onlyA) / all
  const readyB = (bothReady + onlyB) / all
  const chance = readyA * readyB + (1 - readyA) * (1 - readyB)
  return (observed - chance) / (1 - chance)
}

describe("Cohen's kappa", () => {
  it('equals a value worked out by hand', () => {
    // 50 pairs: po = 35/50 = .7; A READY 25/50, B READY 30/50: pe = .5 * .6 + .5 * .4 = .5; kappa = .2 / .5.
    expect(cohenKappa({ bothReady: 20, onlyA: 5, onlyB: 10, bothKeep: 15 })).toBeCloseTo(0.4, 12)
  })

  it('is 1 when both say the same of every pair, -1 when they always differ half and half', () => {
    expect(cohenKappa({ bothReady: 3, onlyA: 0, onlyB: 0, bothKeep: 9 })).toBe(1)
    expect(cohenKappa({ bothReady: 0, onlyA: 7, onlyB: 7, bothKeep: 0 })).toBe(-1)
  })

  it('is 0 when one annotator knows nothing of what the other says', () => {
    expect(cohenKappa({ bothReady: 2, onlyA: 4, onlyB: 3, bothKeep: 6 })).toBe(0)
    expect(cohenKappa({ bothReady: 0, onlyA: 0, onlyB: 4, bothKeep: 6 })).toBe(0)
  })

  it('is undefined without pairs and where both use one class alone', () => {
    expect(cohenKappa({ bothReady: 0, onlyA: 0, onlyB: 0, bothKeep: 0 })).toBeNull()
    expect(cohenKappa({ bothReady: 0, onlyA: 0, onlyB: 0, bothKeep: 12 })).toBeNull()
    expect(cohenKappa({ bothReady: 12, onlyA: 0, onlyB: 0, bothKeep: 0 })).toBeNull()
  })

  test.prop([count, count, count, count])('equals its definition and is symmetric', (a, b, c, d) => {
    const kappa = cohenKappa({ bothReady: a, onlyA: b, onlyB: c, bothKeep: d })
    expect(cohenKappa({ bothReady: a, onlyA: c, onlyB: b, bothKeep: d })).toBe(kappa)
    expect(cohenKappa({ bothReady: d, onlyA: b, onlyB: c, bothKeep: a })).toBe(kappa)
    if (kappa === null) return
    expect(Math.abs(kappa)).toBeLessThanOrEqual(1)
    expect(kappa).toBeCloseTo(byDefinition(a, b, c, d), 6)
  })
})
