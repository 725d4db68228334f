import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import {
  mattered,
  placeboGains,
  placeboLimit,
  targetGains,
  usualVariance,
} from '../../../../../data/annotate/counterfactual/gains.ts'
import type { ActionMeasurement } from '../../../../../data/annotate/counterfactual/measurement.ts'

function measurementOf(
  strata: readonly { readonly targets: readonly number[]; readonly placebos: readonly number[] }[],
): ActionMeasurement {
  return {
    trajectory: 'run',
    action: 9,
    actionTokens: 3,
    strata: strata.map(({ targets, placebos }, k) => ({
      without: null,
      lengthClass: k,
      targets: targets.map((logProbability, i) => ({ interaction: 2 * i + k, logProbability })),
      placebos: placebos.map((logProbability, i) => ({ trajectory: 'other', interaction: i, logProbability })),
    })),
  }
}

/** Degrees of freedom that the usual variance counts for. */
const PRIOR = 4

describe('gains', () => {
  it('are held against the mean of the placebos, in units of their spread around it', () => {
    const [gain] = targetGains(measurementOf([{ targets: [-4], placebos: [-9, -10, -11] }]), 0)
    expect(gain).toMatchObject({ trajectory: 'run', interaction: 0, action: 9, nats: 6 })
    // Squares of 2 with 2 degrees of freedom; one more interaction against the mean of three: 1 + 1/3.
    expect(gain?.unitNats).toBeCloseTo(Math.sqrt(2 / (2 + PRIOR)) * Math.sqrt(4 / 3), 12)
  })

  it('pool the spread of all placebos of an action, each around the mean of its own stratum', () => {
    const strata = [
      { targets: [-4], placebos: [-9, -11] },
      { targets: [-40], placebos: [-48, -52] },
    ]
    const gains = targetGains(measurementOf(strata), 0)
    expect(gains.map(({ nats }) => nats)).toEqual([6, 10])
    for (const { unitNats } of gains)
      expect(unitNats).toBeCloseTo(Math.sqrt((2 + 8) / (2 + PRIOR)) * Math.sqrt(1.5), 12)
  })

  it('draw the spread towards what is usual for an action of so many tokens', () => {
    const quiet = measurementOf([{ targets: [-4], placebos: [-9, -9, -9] }])
    const [gain] = targetGains(quiet, 5)
    expect(gain?.unitNats).toBeCloseTo(Math.sqrt((PRIOR * 5 * 3) / (2 + PRIOR)) * Math.sqrt(4 / 3), 12)
    const loud = measurementOf([{ targets: [], placebos: [-9, -12, -15] }])
    // Variances 0, 9 and 9 of actions of three tokens; an action without two placebos says nothing.
    expect(usualVariance([quiet, loud, loud, measurementOf([{ targets: [], placebos: [-1] }])])).toBe(3)
    expect(usualVariance([])).toBe(0)
  })

  it('of a placebo are held against the others, without itself in mean and spread', () => {
    const gains = placeboGains(measurementOf([{ targets: [], placebos: [-1, -3, -5, -3] }]), 0)
    expect(gains).toHaveLength(4)
    // The first against -3, -5, -3: mean -11/3, squares 8/3.
    expect(gains[0]).toBeCloseTo((-1 + 11 / 3) / (Math.sqrt(8 / 3 / (2 + PRIOR)) * Math.sqrt(4 / 3)), 12)
  })

  it('of placebos need two of a kind: without any there is no limit, by name', () => {
    const single = measurementOf([{ targets: [-1], placebos: [-1] }])
    expect(placeboGains(single, 1)).toEqual([])
    expect(() => placeboLimit([single], 0.95)).toThrow(
      expect.objectContaining({ code: 'training-data-insufficient', message: expect.stringContaining('groups') }),
    )
  })

  it('stay finite where all placebos agree to the last bit', () => {
    const measurement = measurementOf([{ targets: [-2, -1], placebos: [-2, -2, -2, -2] }])
    const limit = placeboLimit([measurement], 0.95)
    expect(limit).toBe(0)
    expect(targetGains(measurement, usualVariance([measurement])).map((gain) => mattered(gain, limit))).toEqual([
      false,
      true,
    ])
  })

  const score = fc.double({ min: -500, max: 0, noNaN: true })
  const strata = fc.array(
    fc.record({
      targets: fc.array(score, { maxLength: 4 }),
      placebos: fc.array(score, { minLength: 3, maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 3 },
  )

  test.prop([strata])('of placebos exceed their own quantile as often as it says, and no more', (drawn) => {
    const measurement = measurementOf(drawn)
    const gains = placeboGains(measurement, usualVariance([measurement]))
    const limit = placeboLimit([measurement], 0.8)
    expect(gains.filter((gain) => gain > limit).length / gains.length).toBeLessThanOrEqual(0.2 + 1 / gains.length)
  })

  test.prop([strata, fc.integer({ min: -64, max: 64 })])(
    'do not change when an action is less probable by the same factor behind everything',
    (drawn, shift) => {
      const move = (scores: readonly number[]): number[] => scores.map((value) => value + shift)
      const moved = drawn.map(({ targets, placebos }) => ({ targets: move(targets), placebos: move(placebos) }))
      const gains = targetGains(measurementOf(drawn), 1)
      for (const [k, gain] of targetGains(measurementOf(moved), 1).entries()) {
        expect(gain.nats).toBeCloseTo(gains[k]?.nats ?? Number.NaN, 8)
        expect(gain.unitNats).toBeCloseTo(gains[k]?.unitNats ?? Number.NaN, 6)
      }
    },
  )
})
