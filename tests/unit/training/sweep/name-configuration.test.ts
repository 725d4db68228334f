import { describe, expect, it } from 'vitest'
import { configurationNames, trainCommand } from '../../../../training/sweep/name-configuration.ts'
import { resolveTrainConfig } from '../../../../training/train-config.ts'

const hidden = (overrides: Parameters<typeof resolveTrainConfig>[1], dataset = 0) => ({
  dataset,
  inputs: 'hidden' as const,
  config: resolveTrainConfig('hidden', overrides),
})

describe('configurationNames', () => {
  it('says what differs and nothing else', () => {
    const names = configurationNames([hidden({ positiveWeight: 1 }), hidden({ positiveWeight: 5 })])
    expect(names).toEqual(['hidden, weight 1', 'hidden, weight 5'])
  })

  it('says the dataset where there are several', () => {
    expect(configurationNames([hidden({}), hidden({}, 1)])).toEqual(['#1, hidden', '#2, hidden'])
  })
})

describe('trainCommand', () => {
  it('gives every searched value, and others only where they are not the default', () => {
    expect(trainCommand('data/layer 12', hidden({ width: 64, seed: 7 }))).toBe(
      "keepready train 'data/layer 12' --out router/ --inputs hidden " +
        '--positive-weight 10 --width 64 --dropout 0.3 --lr 0.0003 --hidden-scale 0.1 --seed 7',
    )
  })
})
