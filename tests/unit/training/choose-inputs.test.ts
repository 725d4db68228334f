import { describe, expect, it } from 'vitest'
import type { RotationSummary, SplitMetrics } from '../../../models/router/manifest.ts'
import type { InputKind } from '../../../models/router/spec.ts'
import { chooseInputs } from '../../../training/choose-inputs.ts'

function rotation(inputs: InputKind, withinAuroc: number | null, prAuc: number | null = null): RotationSummary {
  const metrics: SplitMetrics = { trajectories: 1, pairs: 1, positives: 1, withinAuroc, prAuc, lossNats: 1 }
  // The test part says the opposite: it must not be looked at.
  return {
    inputs,
    rotation: 0,
    bestEpoch: 1,
    validation: metrics,
    test: { ...metrics, withinAuroc: 1 - (withinAuroc ?? 0) },
  }
}

describe('chooseInputs', () => {
  it('takes the best mean validation AUROC and says the figures', () => {
    const choice = chooseInputs([rotation('hidden', 0.5), rotation('hidden', 0.7), rotation('evidence', 0.8)])
    expect(choice.inputs).toBe('evidence')
    expect(choice.because).toContain('hidden 0.600')
    expect(choice.because).toContain('evidence 0.800')
  })

  it('takes the cheaper kind of two equal ones', () => {
    expect(chooseInputs([rotation('hidden+evidence', 0.8), rotation('evidence', 0.8)]).inputs).toBe('evidence')
  })

  it('falls back to PR-AUC where no trajectory holds both classes', () => {
    const choice = chooseInputs([rotation('hidden', null, 0.4), rotation('evidence', null, 0.3)])
    expect(choice).toMatchObject({ inputs: 'hidden', because: expect.stringContaining('PR-AUC') })
  })

  it('has no choice with one kind', () => {
    expect(chooseInputs([rotation('hidden', 0.2)])).toEqual({ inputs: 'hidden', because: 'only hidden was trained' })
  })
})
