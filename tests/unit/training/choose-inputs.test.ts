import { describe, expect, it } from 'vitest'
import type { RotationSummary, SplitMetrics } from '../../../models/router/manifest.ts'
import type { InputKind } from '../../../models/router/spec.ts'
import { chooseInputs } from '../../../training/choose-inputs.ts'

function rotation(
  inputs: InputKind,
  withinAuroc: number | null,
  options: { readonly prAuc?: number; readonly rotation?: number } = {},
): RotationSummary {
  const { prAuc = null } = options
  const metrics: SplitMetrics = { trajectories: 1, pairs: 1, positives: 1, withinAuroc, prAuc, lossNats: 1 }
  // The test part says the opposite: it must not be looked at.
  return {
    inputs,
    rotation: options.rotation ?? 0,
    bestEpoch: 1,
    validation: metrics,
    test: { ...metrics, withinAuroc: 1 - (withinAuroc ?? 0) },
  }
}

const series = (inputs: InputKind, values: readonly (number | null)[]): readonly RotationSummary[] =>
  values.map((value, r) => rotation(inputs, value, { rotation: r }))

describe('chooseInputs', () => {
  it('takes the best mean validation AUROC and says the figures', () => {
    const choice = chooseInputs([...series('evidence', [0.5, 0.7]), ...series('hidden', [0.8, 0.9])])
    expect(choice.inputs).toBe('hidden')
    expect(choice.because).toBe(
      'best mean validation within-trajectory AUROC over the rotations (evidence 0.600, hidden 0.850)',
    )
  })

  it('takes the cheaper kind of two equal ones', () => {
    expect(chooseInputs([rotation('hidden+evidence', 0.8), rotation('evidence', 0.8)]).inputs).toBe('evidence')
  })

  it('takes a cheaper kind within one paired standard error of the best, and says by how much', () => {
    // Differences .02 -.01 .02: mean .010, standard deviation .01732, standard error .010.
    const choice = chooseInputs([
      ...series('evidence', [0.8, 0.85, 0.82]),
      ...series('hidden+evidence', [0.82, 0.8399, 0.84]),
    ])
    expect(choice.inputs).toBe('evidence')
    expect(choice.because).toContain('within one standard error of the best')
    expect(choice.because).toContain('hidden+evidence is ahead by 0.010, standard error 0.010')
  })

  it('takes the best where every rotation prefers it by about the same: the error is paired', () => {
    // The kinds differ by .01 everywhere, although rotations differ by .2.
    const choice = chooseInputs([
      ...series('evidence', [0.6, 0.7, 0.8]),
      ...series('hidden+evidence', [0.611, 0.71, 0.809]),
    ])
    expect(choice.inputs).toBe('hidden+evidence')
  })

  it('takes the cheapest of several kinds within the error, never a dearer one', () => {
    const noisy = [0.9, 0.5, 0.7]
    const kinds = { evidence: [0.5, 0.7, 0.86], hidden: [0.6, 0.6, 0.88], 'hidden+evidence': noisy } as const
    const choice = chooseInputs(
      (['hidden+evidence', 'hidden', 'evidence'] as const).flatMap((kind) => series(kind, kinds[kind])),
    )
    expect(choice.inputs).toBe('evidence')
  })

  it('pairs values by the number of their rotation, not by their place in the list', () => {
    const choice = chooseInputs([
      ...series('evidence', [0.6, 0.7, 0.8]),
      ...series('hidden', [0.611, 0.71, 0.809]).toReversed(),
    ])
    expect(choice.inputs).toBe('hidden')
  })

  it('falls back to PR-AUC where no trajectory holds both classes', () => {
    const choice = chooseInputs([rotation('hidden', null, { prAuc: 0.4 }), rotation('evidence', null, { prAuc: 0.3 })])
    expect(choice).toMatchObject({ inputs: 'hidden', because: expect.stringContaining('PR-AUC') })
  })

  it('has no choice with one kind', () => {
    expect(chooseInputs([rotation('hidden', 0.2)])).toEqual({ inputs: 'hidden', because: 'only hidden was trained' })
  })
})
