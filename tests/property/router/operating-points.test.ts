import { test } from '@fast-check/vitest'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyIsotonic } from '../../../src/metrics/isotonic.ts'
import { decide, logitOf, sigmoid } from '../../../src/router/decide.ts'
import {
  chooseOperatingPoints,
  DEFAULT_OPERATING_POINT_CONFIG,
  figuresAt,
  OPERATING_POINT_NAMES,
} from '../../../src/router/operating-points.ts'
import type { ValidationPairs } from '../../../src/router/validation-halves.ts'

const finite = fc.double({ min: -20, max: 20, noNaN: true })

/** Pairs of up to 16 groups whose labels follow the logit more or less. */
const validationPairs = fc
  .array(fc.record({ logit: finite, noise: finite, group: fc.integer({ min: 0, max: 15 }) }), {
    minLength: 1,
    maxLength: 200,
  })
  .map(
    (rows): ValidationPairs => ({
      logits: rows.map((row) => row.logit),
      labels: rows.map((row) => (row.logit + row.noise > 0 ? 1 : 0)),
      groups: rows.map((row) => `group-${row.group}`),
    }),
  )

const easy: ValidationPairs = {
  logits: Array.from({ length: 400 }, (_, i) => (i % 100) / 10 - 5),
  labels: Array.from({ length: 400 }, (_, i) => (i % 100 >= 60 ? 1 : 0)),
  groups: Array.from({ length: 400 }, (_, i) => `group-${i % 20}`),
}

describe('decide', () => {
  test.prop([finite, finite, finite])('never makes more READY when tau rises', (logit, a, b) => {
    const [low, high] = [Math.min(a, b), Math.max(a, b)]
    if (decide(logit, { tauLogit: high }).ready) expect(decide(logit, { tauLogit: low }).ready).toBe(true)
  })

  test.prop([finite, finite])('measures the margin as the distance of logits', (logit, tauLogit) => {
    const { p, margin, ready } = decide(logit, { tauLogit })
    expect(margin).toBe(Math.abs(logit - tauLogit))
    expect(ready).toBe(logit >= tauLogit)
    expect(p).toBeCloseTo(1 / (1 + Math.exp(-logit)), 12)
  })

  it('never predicts READY without a threshold', () => {
    expect(decide(50, { tauLogit: null })).toEqual({ p: sigmoid(50), margin: null, ready: false })
  })

  it('inverts the logistic function', () => {
    for (const p of [0.01, 0.5, 0.6, 0.99]) expect(sigmoid(logitOf(p))).toBeCloseTo(p, 14)
  })
})

describe('chooseOperatingPoints', () => {
  test.prop([validationPairs])('keeps what it promises of precision on its own half, or has no threshold', (pairs) => {
    const { precision } = chooseOperatingPoints(pairs).points
    const { targetPrecision, minSelectedGroups, minSelectedPairs } = DEFAULT_OPERATING_POINT_CONFIG
    if (precision.tauLogit === null) {
      expect(precision.reason).toContain('0.8')
      expect(precision.validation.selectedPairs).toBe(0)
      return
    }
    expect(precision.reason).toBeNull()
    expect(precision.validation.precision).toBeGreaterThanOrEqual(targetPrecision)
    expect(precision.validation.selectedPairs).toBeGreaterThanOrEqual(minSelectedPairs)
    expect(precision.validation.selectedGroups).toBeGreaterThanOrEqual(minSelectedGroups)
  })

  test.prop([validationPairs])('does not depend on the order of pairs', (pairs) => {
    const reversed: ValidationPairs = {
      logits: Array.from(pairs.logits).reverse(),
      labels: Array.from(pairs.labels).reverse(),
      groups: [...pairs.groups].reverse(),
    }
    const taus = (from: ValidationPairs) => {
      const { points } = chooseOperatingPoints(from)
      return OPERATING_POINT_NAMES.filter((name) => name !== 'cost').map((name) => points[name].tauLogit)
    }
    expect(taus(reversed)).toEqual(taus(pairs))
  })

  it('takes the lowest threshold that is precise enough', () => {
    const { points } = chooseOperatingPoints(easy)
    // READY from logit 1.0 on: selecting from s = 0.5 on gives 40 / 45 > 0.8, from 0.0 on exactly 40 / 50.
    expect(points.precision.tauLogit).toBeGreaterThan(-0.2)
    expect(points.precision.tauLogit).toBeLessThan(1)
    expect(points.precision.validation.precision).toBeGreaterThanOrEqual(0.8)
    expect(points.f1.tauLogit).toBeGreaterThan(0.8)
    expect(points.f1.tauLogit).toBeLessThan(1.1)
    expect(points.f1.validation).toMatchObject({ precision: 1, recall: 1 })
    expect(points.fixed.tau).toBeCloseTo(0.6, 12)
  })

  it('asks for enough pairs of enough groups', () => {
    const few = { ...easy, groups: easy.groups.map((_, i) => `group-${i % 6}`) }
    expect(chooseOperatingPoints(few).points.precision.tauLogit).toBeNull()
    expect(
      chooseOperatingPoints(few, { ...DEFAULT_OPERATING_POINT_CONFIG, minSelectedGroups: 2 }).points.precision.tauLogit,
    ).not.toBeNull()
  })

  it('puts the cost threshold where the calibrated probability pays, on groups that the others do not use', () => {
    const { points, calibration } = chooseOperatingPoints(easy)
    const tauLogit = points.cost.tauLogit as number
    expect(calibration).not.toBeNull()
    if (calibration !== null) {
      expect(applyIsotonic(calibration, tauLogit)).toBeGreaterThanOrEqual(0.8 - 1e-9)
      expect(applyIsotonic(calibration, tauLogit - 0.2)).toBeLessThan(0.8)
    }
    const halves = figuresAt(easy, -100)
    expect(points.cost.validation.pairs).toBe(halves.pairs / 2)
  })

  it('has no threshold but the fixed one where nothing is READY', () => {
    const { points } = chooseOperatingPoints({ ...easy, labels: easy.groups.map(() => 0) })
    expect(points.precision.tauLogit).toBeNull()
    expect(points.f1.tauLogit).toBeNull()
    expect(points.cost.tauLogit).toBeNull()
    expect(points.fixed.tauLogit).not.toBeNull()
    for (const name of ['precision', 'f1', 'cost'] as const) expect(points[name].reason).not.toBeNull()
  })

  it('has no calibration from a single group', () => {
    const { calibration, points } = chooseOperatingPoints({ ...easy, groups: easy.groups.map(() => 'one') })
    expect(calibration).toBeNull()
    expect(points.cost.tauLogit).toBeNull()
  })
})
