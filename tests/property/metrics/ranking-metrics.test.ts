import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { auroc } from '../../../src/metrics/auroc.ts'
import { averagePrecision } from '../../../src/metrics/average-precision.ts'
import { applyIsotonic, fitIsotonic } from '../../../src/metrics/isotonic.ts'

/** Few distinct scores, so that ties are common; eighths, so that the maps below keep them distinct and ordered. */
const rows = fc.array(
  fc.record({
    score: fc.integer({ min: -40, max: 40 }).map((n) => n / 8),
    label: fc.integer({ min: 0, max: 1 }),
    weight: fc.integer({ min: 0, max: 4 }),
  }),
  { minLength: 1, maxLength: 60 },
)
type Rows = readonly { readonly score: number; readonly label: number; readonly weight: number }[]
const scoresOf = (list: Rows): number[] => list.map((row) => row.score)
const labelsOf = (list: Rows): number[] => list.map((row) => row.label)
const weightsOf = (list: Rows): number[] => list.map((row) => row.weight)
const close = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a === b : Math.abs(a - b) <= 1e-12

describe('AUROC', () => {
  test.prop([rows])('equals the share of (READY, KEEP) couples in the right order', (list) => {
    let couples = 0
    let wins = 0
    for (const a of list)
      for (const b of list)
        if (a.label === 1 && b.label === 0) {
          couples += 1
          wins += a.score > b.score ? 1 : a.score === b.score ? 0.5 : 0
        }
    expect(close(auroc(scoresOf(list), labelsOf(list)), couples === 0 ? null : wins / couples)).toBe(true)
  })

  test.prop([rows])('does not change under strictly increasing maps of the score', (list) => {
    const plain = auroc(scoresOf(list), labelsOf(list), weightsOf(list))
    for (const map of [(s: number) => 3 * s - 7, (s: number) => Math.exp(s / 8), (s: number) => s ** 3])
      expect(auroc(scoresOf(list).map(map), labelsOf(list), weightsOf(list))).toBe(plain)
  })

  test.prop([rows])('becomes 1 - AUROC when the labels are flipped', (list) => {
    const plain = auroc(scoresOf(list), labelsOf(list))
    const flipped = auroc(
      scoresOf(list),
      labelsOf(list).map((label) => 1 - label),
    )
    expect(close(flipped, plain === null ? null : 1 - plain)).toBe(true)
  })
})

describe('integer weights equal repetition', () => {
  test.prop([rows])('of rows, for AUROC and average precision', (list) => {
    const repeated = list.flatMap((row) => Array.from({ length: row.weight }, () => row))
    for (const metric of [auroc, averagePrecision])
      expect(
        close(metric(scoresOf(list), labelsOf(list), weightsOf(list)), metric(scoresOf(repeated), labelsOf(repeated))),
      ).toBe(true)
  })
})

describe('isotonic fit', () => {
  test.prop([rows])('never falls and keeps the mean of the labels', (list) => {
    const map = fitIsotonic(scoresOf(list), labelsOf(list))
    const fitted = [...list].sort((a, b) => a.score - b.score).map((row) => applyIsotonic(map, row.score))
    fitted.forEach((value, i) => {
      expect(value).toBeGreaterThanOrEqual((fitted[i - 1] ?? 0) - 1e-12)
    })
    const sum = fitted.reduce((total, value) => total + value, 0)
    expect(Math.abs(sum - labelsOf(list).reduce((total, label) => total + label, 0))).toBeLessThan(1e-9)
  })
})
