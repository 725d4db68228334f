import { describe, expect, it } from 'vitest'
import { averagePrecision } from '../../../src/metrics/average-precision.ts'
import {
  interpolateCurve,
  precisionAtRecalls,
  precisionCoveragePoints,
  precisionRecallPoints,
  rocPoints,
  sweepThresholds,
} from '../../../src/metrics/curves.ts'

const scores = [0.9, 0.8, 0.8, 0.4, 0.1]
const labels = [1, 0, 1, 0, 1]
const sweep = sweepThresholds(scores, labels)

describe('threshold sweep', () => {
  it('takes tied rows together', () => {
    expect(sweep.points).toEqual([
      { threshold: 0.9, tp: 1, fp: 0 },
      { threshold: 0.8, tp: 2, fp: 1 },
      { threshold: 0.4, tp: 2, fp: 2 },
      { threshold: 0.1, tp: 3, fp: 2 },
    ])
  })

  it('gives precision-recall points whose step area is the average precision', () => {
    let area = 0
    let before = 0
    for (const [recall, precision] of precisionRecallPoints(sweep)) {
      area += (recall - before) * precision
      before = recall
    }
    expect(area).toBeCloseTo(averagePrecision(scores, labels) ?? 0, 12)
  })

  it('gives coverage as the selected share', () => {
    expect(precisionCoveragePoints(sweep)).toEqual([
      [0.2, 1],
      [0.6, 2 / 3],
      [0.8, 0.5],
      [1, 0.6],
    ])
  })

  it('has no ROC when a class is missing', () => {
    expect(rocPoints(sweepThresholds([1, 2], [1, 1]))).toEqual([])
  })
})

describe('curves on a grid', () => {
  it('interpolate linearly, and a jump counts as reached', () => {
    const curve = [
      [0, 0],
      [0, 0.5],
      [1, 1],
    ] as const
    expect(interpolateCurve(curve, [0, 0.5, 1])).toEqual([0.5, 0.75, 1])
    expect(interpolateCurve([], [0])).toBeNull()
  })

  it('never interpolate precision', () => {
    expect(precisionAtRecalls(sweep, [0, 0.3, 0.5, 1])).toEqual([1, 1, 2 / 3, 0.6])
  })
})
