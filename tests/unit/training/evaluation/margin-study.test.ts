import { describe, expect, it } from 'vitest'
import { marginRecord } from '../../../../training/evaluation/margin-study.ts'

const record = marginRecord({
  operatingPoint: 'f1',
  distances: Float64Array.from([-3, -1, -0.05, 0, 0.4, 2]),
  measured: [],
})
const kept = (perturbation: number) => record.kept.find((one) => one.perturbation === perturbation)

describe('decision margins', () => {
  it('count the decisions that no change of a size can turn', () => {
    expect(kept(0.01)).toMatchObject({ all: 5 / 6, ready: 2 / 3, keep: 1 })
    expect(kept(0.05)).toMatchObject({ keep: 2 / 3 })
    expect(kept(1)).toMatchObject({ all: 2 / 6, ready: 1 / 3, keep: 1 / 3 })
    expect(kept(4)).toMatchObject({ all: 0, ready: 0, keep: 0 })
  })

  it('never keep more under a larger change', () => {
    const shares = record.kept.map((one) => one.all ?? 0)
    expect(shares).toEqual([...shares].sort((a, b) => b - a))
  })

  it('have quantiles of READY and KEEP decisions apart', () => {
    expect(record.quantiles.find((one) => one.level === 0.5)).toMatchObject({ all: 0.7, ready: 0.4, keep: 1 })
    expect(record).toMatchObject({ pairs: 6, ready: 3 })
    const never = marginRecord({ operatingPoint: 'f1', distances: Float64Array.from([-1]), measured: [] })
    expect(never.quantiles[0]).toMatchObject({ ready: null, keep: 1 })
  })
})
