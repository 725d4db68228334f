import { describe, expect, it } from 'vitest'
import { gridConfigurations, randomConfigurations, type SearchSpace } from '../../../../training/sweep/search-space.ts'

const space = (options: Partial<SearchSpace> = {}): SearchSpace => ({
  evidenceSource: [0],
  inputs: ['hidden'],
  values: {},
  fixed: { seed: 3, epochs: 2 },
  ...options,
})

describe('gridConfigurations', () => {
  it('takes every combination, with the fixed values and the defaults of the input kind in each', () => {
    const grid = gridConfigurations(space({ values: { positiveWeight: [1, 5], width: [8, 16] } }))
    expect(grid.map(({ config }) => [config.positiveWeight, config.width])).toEqual([
      [1, 8],
      [1, 16],
      [5, 8],
      [5, 16],
    ])
    for (const { config } of grid) expect(config).toMatchObject({ seed: 3, epochs: 2, hiddenScale: 0.1, dropout: 0.3 })
  })

  it('keeps a fixed value where the axis has none of its own', () => {
    const grid = gridConfigurations(space({ fixed: { width: 7 }, values: { positiveWeight: [1] } }))
    expect(grid.map(({ config }) => config.width)).toEqual([7])
  })

  it('has one configuration for all datasets and hidden scales that evidence cannot tell apart', () => {
    const grid = gridConfigurations(
      space({ evidenceSource: [0, 0, 2], inputs: ['evidence', 'hidden'], values: { hiddenScale: [1, 0.1] } }),
    )
    expect(grid.filter(({ inputs }) => inputs === 'evidence').map(({ dataset }) => dataset)).toEqual([0, 2])
    expect(grid.filter(({ inputs }) => inputs === 'hidden')).toHaveLength(6)
  })

  it('has one configuration for all dropouts of a logistic regression', () => {
    const grid = gridConfigurations(space({ values: { width: [0, 8], dropout: [0, 0.1, 0.5] } }))
    expect(grid.filter(({ config }) => config.width === 0)).toHaveLength(1)
    expect(grid).toHaveLength(4)
  })

  it('refuses values out of range and axes without a value', () => {
    expect(() => gridConfigurations(space({ values: { learningRate: [2] } }))).toThrow(
      '--lr is 2, it must be above 0 and below 1',
    )
    expect(() => gridConfigurations(space({ values: { width: [] } }))).toThrow(/0 configurations/)
  })
})

describe('randomConfigurations', () => {
  it('draws different configurations, the same for the same seed', () => {
    const drawn = randomConfigurations(space({ inputs: ['hidden', 'evidence'] }), 20, 1)
    expect(new Set(drawn.map((one) => JSON.stringify(one))).size).toBe(20)
    expect(randomConfigurations(space({ inputs: ['hidden', 'evidence'] }), 20, 1)).toEqual(drawn)
    expect(randomConfigurations(space({ inputs: ['hidden', 'evidence'] }), 20, 2)).not.toEqual(drawn)
  })

  it('draws from the values given, and ends when there are no more', () => {
    const values = { positiveWeight: [2], width: [8, 16], dropout: [0], learningRate: [1e-3], hiddenScale: [1, 0.1] }
    const drawn = randomConfigurations(space({ values }), 50, 1)
    expect(new Set(drawn.map(({ config }) => `${config.width}/${config.hiddenScale}`))).toEqual(
      new Set(['8/1', '8/0.1', '16/1', '16/0.1']),
    )
    expect(drawn).toHaveLength(4)
  })
})
