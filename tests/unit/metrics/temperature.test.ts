import { describe, expect, it } from 'vitest'
import { auroc } from '../../../src/metrics/auroc.ts'
import { logLoss } from '../../../src/metrics/calibration.ts'
import { applyTemperature, fitTemperature } from '../../../src/metrics/temperature.ts'
import { createRng } from '../../../src/rng.ts'
import { sigmoid } from '../../../src/router/decide.ts'

const rng = createRng(7)
/** True log odds z; the router says 3 z + 2: too sure, and shifted as a weight on READY shifts it. */
const truth = Float64Array.from({ length: 6000 }, () => 1.5 * rng.nextNormal() - 1)
const labels = Array.from(truth, (z) => (rng.nextFloat() < sigmoid(z) ? 1 : 0))
const logits = truth.map((z) => 3 * z + 2)

describe('temperature scaling', () => {
  it('finds the temperature and the offset that were put there', () => {
    const scale = fitTemperature(logits, labels)
    expect(Math.abs((scale?.temperature ?? 0) - 3)).toBeLessThan(0.25)
    expect(Math.abs((scale?.offset ?? 0) + 2)).toBeLessThan(0.3)
  })

  it('is a minimum: no neighbour has a smaller log loss', () => {
    const scale = fitTemperature(logits, labels) ?? { temperature: 1, offset: 0 }
    const loss = (temperature: number, offset: number): number =>
      logLoss(
        logits.map((logit) => applyTemperature({ temperature, offset }, logit)),
        labels,
      ) ?? 0
    const best = loss(scale.temperature, scale.offset)
    expect(best).toBeLessThan(loss(1, 0) - 0.05)
    // Smoothed labels move the minimum of the smoothed loss by about 1 / n.
    for (const [t, o] of [
      [0.1, 0],
      [-0.1, 0],
      [0, 0.1],
      [0, -0.1],
    ] as const)
      expect(loss(scale.temperature + t, scale.offset + o)).toBeGreaterThan(best)
  })

  it('keeps the ranking', () => {
    const scale = fitTemperature(logits, labels)
    const scaled = logits.map((logit) => (scale === null ? 0 : applyTemperature(scale, logit)))
    expect(auroc(scaled, labels)).toBeCloseTo(auroc(logits, labels) ?? 0, 12)
  })

  it('stays finite on separable pairs, never turns the ranking round, and has no fit for one class', () => {
    const separable = fitTemperature([-5, -4, 4, 5], [0, 0, 1, 1])
    expect(Number.isFinite(separable?.temperature)).toBe(true)
    const wrong = fitTemperature([-5, -4, 4, 5], [1, 1, 0, 0])
    expect(wrong?.temperature).toBeGreaterThan(0)
    expect(fitTemperature([1, 1, 1], [0, 1, 0])?.temperature).toBeGreaterThan(0)
    expect(fitTemperature([1, 2], [1, 1])).toBeNull()
    expect(fitTemperature([1, 2], [0, 0])).toBeNull()
    expect(fitTemperature([], [])).toBeNull()
  })
})
