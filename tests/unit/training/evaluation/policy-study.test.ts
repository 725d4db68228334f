import { describe, expect, it } from 'vitest'
import { createRng } from '../../../../src/rng.ts'
import { logitOf } from '../../../../src/router/decide.ts'
import { STUDIED_POLICIES } from '../../../../src/router/threshold-policies.ts'
import { type PolicyRotation, studyPolicies } from '../../../../training/evaluation/policy-study.ts'

function pairs(seed: number, count: number, shift = 0) {
  const rng = createRng(seed)
  const labels = Array.from({ length: count }, () => (rng.nextFloat() < 0.3 ? 1 : 0))
  return {
    labels,
    logits: labels.map((label) => 3 * label - 1.5 + rng.nextNormal() + shift),
    groups: labels.map((_, i) => `group-${i % 24}`),
  }
}

const rotations: readonly PolicyRotation[] = [1, 2, 3].map((seed) => ({
  validation: pairs(seed, 600),
  test: pairs(seed + 50, 600),
}))
const found = studyPolicies(rotations)
const policy = (name: string, parameter: number) => {
  const one = found.find((candidate) => candidate.policy === name && candidate.parameter === parameter)
  if (one === undefined) throw new Error(`no ${name} ${parameter}`)
  return one
}

describe('threshold policies', () => {
  it('are studied at every parameter, each with a threshold per rotation', () => {
    expect(found.map((one) => [one.policy, one.parameter])).toEqual(
      STUDIED_POLICIES.map((one) => [one.policy, one.parameter]),
    )
    for (const one of found) expect(one.tauLogits).toHaveLength(3)
  })

  it('keep on validation what they promise, and a stricter promise costs recall', () => {
    for (const target of [0.7, 0.8, 0.9])
      expect(policy('precision', target).objective?.validation).toBeGreaterThanOrEqual(target)
    expect(policy('precision', 0.9).test.recall ?? 1).toBeLessThan(policy('precision', 0.7).test.recall ?? 0)
    expect(policy('f-beta', 0.5).test.precision ?? 0).toBeGreaterThan(policy('f-beta', 2).test.precision ?? 1)
    expect(policy('cost', 10).test.falsePositiveRate ?? 1).toBeLessThan(policy('cost', 1).test.falsePositiveRate ?? 0)
  })

  it('give the rates that counting gives', () => {
    const fixed = policy('fixed', 0.6)
    const precisions = rotations.map(({ test }) => {
      const called = Array.from(test.labels).filter((_, i) => (test.logits[i] ?? 0) >= logitOf(0.6))
      return called.reduce((sum, label) => sum + label, 0) / called.length
    })
    expect(fixed.test.precision).toBeCloseTo(precisions.reduce((sum, one) => sum + one, 0) / 3, 12)
    expect(fixed.objective).toBeNull()
  })

  it('show at shift 0 what was measured, and call fewer READY as the threshold rises', () => {
    for (const one of found) {
      expect(one.sensitivity.find(({ shift }) => shift === 0)?.rates).toEqual(one.test)
      const selected = one.sensitivity.map(({ rates }) => rates.selectedShare ?? 0)
      expect(selected).toEqual([...selected].sort((a, b) => b - a))
    }
  })

  it('tell that a threshold was flattered when the test part is another world', () => {
    const shifted = studyPolicies(
      rotations.map(({ validation }, k) => ({
        validation,
        test: { ...pairs(k + 90, 600), logits: pairs(k + 91, 600).logits },
      })),
    )
    for (const one of shifted) if (one.objective !== null) expect(one.objective.optimism ?? 0).toBeGreaterThan(0.05)
  })

  it('have no threshold where validation holds no READY pair, and say what that does', () => {
    const none = studyPolicies(
      rotations.map(({ validation, test }) => ({
        test,
        validation: { ...validation, labels: Array.from(validation.labels, () => 0) },
      })),
    )
    const precise = none.find((one) => one.policy === 'precision')
    expect(precise?.tauLogits).toEqual([null, null, null])
    expect(precise?.test).toMatchObject({ precision: null, recall: 0, falsePositiveRate: 0, selectedShare: 0 })
    expect(precise?.objective).toMatchObject({ validation: null, test: null, optimism: null })
  })
})
