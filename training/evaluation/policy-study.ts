/**
 * Threshold policies side by side: what each promises on validation, what it does on test, and how its rates move when the
 * threshold is a little off. Thresholds come from half of a rotation's validation groups; nothing is chosen on test pairs.
 */
import { sigmoid } from '../../src/router/decide.ts'
import {
  policyLabel,
  preparePolicies,
  STUDIED_POLICIES,
  type ThresholdPolicy,
  thresholdOf,
} from '../../src/router/threshold-policies.ts'
import type { ValidationPairs } from '../../src/router/validation-halves.ts'
import type { PolicyRates, PolicyRecord } from './router-study-record.ts'

/** In logits: a change of .1 is at most .025 of probability, one of 1 at most .245. */
const SHIFTS = [-1, -0.5, -0.25, -0.1, 0, 0.1, 0.25, 0.5, 1] as const

/** One rotation: its validation pairs, and its headline test pairs. */
export interface PolicyRotation {
  readonly validation: ValidationPairs
  readonly test: { readonly logits: ArrayLike<number>; readonly labels: ArrayLike<number> }
}

export function studyPolicies(rotations: readonly PolicyRotation[]): readonly PolicyRecord[] {
  const prepared = rotations.map(({ validation, test }) => {
    const basis = preparePolicies(validation)
    return { basis, validation: countAbove(basis.threshold), test: countAbove(test) }
  })
  return STUDIED_POLICIES.map((policy) => {
    const chosen = prepared.map((one) => ({ ...one, tau: thresholdOf(policy, one.basis) }))
    return {
      ...policy,
      label: policyLabel(policy),
      tauLogits: chosen.map((one) => one.tau),
      taus: chosen.map((one) => (one.tau === null ? null : sigmoid(one.tau))),
      validation: meanRates(chosen.map((one) => one.validation(one.tau))),
      test: meanRates(chosen.map((one) => one.test(one.tau))),
      objective: objectiveOf(policy, chosen),
      sensitivity: SHIFTS.map((shift) => ({
        shift,
        rates: meanRates(chosen.map((one) => one.test(one.tau === null ? null : one.tau + shift))),
      })),
    }
  })
}

interface Counts {
  readonly tp: number
  readonly fp: number
  readonly positives: number
  readonly negatives: number
}

type CountAt = (tau: number | null) => Counts

/** Sorted once; then the counts at any threshold cost one binary search. */
function countAbove({ logits, labels }: PolicyRotation['test']): CountAt {
  const order = Array.from({ length: logits.length }, (_, i) => i).sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0))
  const falling = Float64Array.from(order, (i) => logits[i] ?? 0)
  const truePositives = new Float64Array(order.length + 1)
  order.forEach((i, rank) => {
    truePositives[rank + 1] = (truePositives[rank] ?? 0) + (labels[i] ?? 0)
  })
  const positives = truePositives[order.length] ?? 0
  return (tau) => {
    const selected = tau === null ? 0 : countAtLeast(falling, tau)
    const tp = truePositives[selected] ?? 0
    return { tp, fp: selected - tp, positives, negatives: order.length - positives }
  }
}

function countAtLeast(falling: Float64Array, tau: number): number {
  let low = 0
  let high = falling.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((falling[middle] ?? 0) >= tau) low = middle + 1
    else high = middle
  }
  return low
}

function meanRates(rotations: readonly Counts[]): PolicyRates {
  const mean = (rate: (counts: Counts) => number | null): number | null => meanOf(rotations.map(rate))
  return {
    precision: mean(precisionOf),
    recall: mean(({ tp, positives }) => ratio(tp, positives)),
    f1: mean((counts) => fBeta(counts, 1)),
    falsePositiveRate: mean(({ fp, negatives }) => ratio(fp, negatives)),
    selectedShare: mean(({ tp, fp, positives, negatives }) => ratio(tp + fp, positives + negatives)),
  }
}

const precisionOf = ({ tp, fp }: Counts): number | null => ratio(tp, tp + fp)

function fBeta({ tp, fp, positives }: Counts, beta: number): number | null {
  return positives === 0 ? null : ratio((1 + beta ** 2) * tp, tp + fp + beta ** 2 * positives)
}

/** In prices of a missed READY, per pair. */
function costOf({ tp, fp, positives, negatives }: Counts, price: number): number | null {
  return ratio(price * fp + positives - tp, positives + negatives)
}

function objectiveOf(
  { policy, parameter }: ThresholdPolicy,
  rotations: readonly { readonly tau: number | null; readonly validation: CountAt; readonly test: CountAt }[],
): PolicyRecord['objective'] {
  if (policy === 'fixed') return null
  const value = (counts: Counts): number | null => {
    if (policy === 'precision') return precisionOf(counts)
    return policy === 'f-beta' ? fBeta(counts, parameter) : costOf(counts, parameter)
  }
  const both = rotations.flatMap(({ tau, validation, test }) => {
    if (tau === null) return []
    const [seen, unseen] = [value(validation(tau)), value(test(tau))]
    return seen === null || unseen === null ? [] : [{ seen, unseen }]
  })
  const validation = meanOf(both.map((one) => one.seen))
  const test = meanOf(both.map((one) => one.unseen))
  const gap = validation === null || test === null ? null : validation - test
  const name = { precision: 'precision', 'f-beta': `F${parameter}`, cost: 'cost per pair' }[policy]
  return { name, validation, test, optimism: gap !== null && policy === 'cost' ? -gap : gap }
}

function ratio(part: number, whole: number): number | null {
  return whole > 0 ? part / whole : null
}

function meanOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}
