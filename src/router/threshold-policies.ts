/**
 * Threshold policies over a range of parameters (DESIGN section 8): what the operating points are single settings of.
 * Pure; thresholds come from validation pairs only.
 */
import { fitIsotonic, type IsotonicMap } from '../metrics/isotonic.ts'
import { logitOf } from './decide.ts'
import { DEFAULT_OPERATING_POINT_CONFIG } from './operating-points.ts'
import { bestFBetaCut, type Cut, crossing, cutsOf, lowestPreciseCut } from './threshold-cuts.ts'
import { splitValidation, type ValidationHalves, type ValidationPairs } from './validation-halves.ts'

export const POLICY_NAMES = ['precision', 'f-beta', 'cost', 'fixed'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

/** parameter: least precision, beta, price of a premature READY over that of a missed one, tau. */
export interface ThresholdPolicy {
  readonly policy: PolicyName
  readonly parameter: number
}

export const STUDIED_POLICIES: readonly ThresholdPolicy[] = [
  ...[0.7, 0.8, 0.9].map((parameter): ThresholdPolicy => ({ policy: 'precision', parameter })),
  ...[0.5, 1, 2].map((parameter): ThresholdPolicy => ({ policy: 'f-beta', parameter })),
  ...[1, 3, 10].map((parameter): ThresholdPolicy => ({ policy: 'cost', parameter })),
  { policy: 'fixed', parameter: DEFAULT_OPERATING_POINT_CONFIG.fixedTau },
]

/** Validation pairs of one rotation, prepared once for every policy. */
export interface PolicyBasis extends ValidationHalves {
  readonly cuts: readonly Cut[]
  /** From the calibration half; null if it holds no pair. */
  readonly isotonic: IsotonicMap | null
}

export function preparePolicies(validation: ValidationPairs): PolicyBasis {
  const halves = splitValidation(validation)
  const { logits, labels, groups } = halves.calibration
  return {
    ...halves,
    cuts: cutsOf(halves.threshold),
    isotonic: groups.length === 0 ? null : fitIsotonic(logits, labels),
  }
}

/** @returns logit from which on READY is predicted; null: no threshold does what the policy asks */
export function thresholdOf({ policy, parameter }: ThresholdPolicy, basis: PolicyBasis): number | null {
  switch (policy) {
    case 'precision':
      return (
        lowestPreciseCut(basis.cuts, { ...DEFAULT_OPERATING_POINT_CONFIG, targetPrecision: parameter })?.tauLogit ??
        null
      )
    case 'f-beta':
      return bestFBetaCut(basis.cuts, basis.threshold, parameter)?.tauLogit ?? null
    case 'cost':
      return basis.isotonic === null ? null : crossing(basis.isotonic, parameter / (1 + parameter))
    case 'fixed':
      return logitOf(parameter)
  }
}

export function policyLabel({ policy, parameter }: ThresholdPolicy): string {
  switch (policy) {
    case 'precision':
      return `precision >= ${parameter}`
    case 'f-beta':
      return `best F${parameter}`
    case 'cost':
      return `cost ${parameter} : 1`
    case 'fixed':
      return `tau = ${parameter}`
  }
}
