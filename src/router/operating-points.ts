/**
 * Operating points: thresholds chosen on validation pairs only (DESIGN section 8). Pure.
 * Thresholds and calibration use disjoint halves of the validation groups, so that neither flatters the other.
 */
import { fitIsotonic, type IsotonicMap } from '../metrics/isotonic.ts'
import { logitOf, sigmoid, type Threshold } from './decide.ts'
import { bestFBetaCut, crossing, cutsOf, lowestPreciseCut, type PrecisionTarget } from './threshold-cuts.ts'
import { countPositives, splitValidation, type ValidationPairs } from './validation-halves.ts'

export const OPERATING_POINT_NAMES = ['precision', 'f1', 'cost', 'fixed'] as const
export type OperatingPointName = (typeof OPERATING_POINT_NAMES)[number]
export const DEFAULT_OPERATING_POINT: OperatingPointName = 'precision'

/** `precision`: least validation precision, and the least support it needs to count. */
export interface OperatingPointConfig extends PrecisionTarget {
  /** `cost`: price of a premature READY and of a missed one; READY pays from C_unsafe / (C_unsafe + C_miss) on. */
  readonly unsafeCost: number
  readonly missCost: number
  /** `fixed`: the paper's tau. */
  readonly fixedTau: number
}

/** Costs 4 : 1 ask for a calibrated probability of 0.8, the same level as `precision`; an assumption. */
export const DEFAULT_OPERATING_POINT_CONFIG: OperatingPointConfig = {
  targetPrecision: 0.8,
  minSelectedPairs: 20,
  minSelectedGroups: 5,
  unsafeCost: 4,
  missCost: 1,
  fixedTau: 0.6,
}

/** What a threshold does to a set of validation pairs, each pair counting once. */
export interface SelectionFigures {
  readonly pairs: number
  readonly positives: number
  readonly selectedPairs: number
  readonly selectedGroups: number
  /** Null where nothing is selected. */
  readonly precision: number | null
  /** Null where nothing is positive. */
  readonly recall: number | null
}

export interface OperatingPoint extends Threshold {
  readonly name: OperatingPointName
  /** sigmoid(tauLogit); null: READY is never predicted at this point. */
  readonly tau: number | null
  /** On the half of the validation groups that thresholds are chosen on. */
  readonly validation: SelectionFigures
  /** Why tau is null, else null. */
  readonly reason: string | null
}

export interface OperatingPoints {
  readonly points: Readonly<Record<OperatingPointName, OperatingPoint>>
  /** Logit -> calibrated probability, from the calibration half; null if it holds no pair. */
  readonly calibration: IsotonicMap | null
}

export function chooseOperatingPoints(
  validation: ValidationPairs,
  config: OperatingPointConfig = DEFAULT_OPERATING_POINT_CONFIG,
): OperatingPoints {
  const { threshold, calibration } = splitValidation(validation)
  const cuts = cutsOf(threshold)
  const map = calibration.groups.length === 0 ? null : fitIsotonic(calibration.logits, calibration.labels)
  const point = (name: OperatingPointName, tauLogit: number | null, reason: string): OperatingPoint => ({
    name,
    tauLogit,
    tau: tauLogit === null ? null : sigmoid(tauLogit),
    validation: figuresAt(threshold, tauLogit),
    reason: tauLogit === null ? reason : null,
  })
  const level = config.unsafeCost / (config.unsafeCost + config.missCost)
  return {
    calibration: map,
    points: {
      precision: point(
        'precision',
        lowestPreciseCut(cuts, config)?.tauLogit ?? null,
        `no threshold reaches precision ${config.targetPrecision} on ${config.minSelectedPairs} or more validation pairs of ${config.minSelectedGroups} or more groups`,
      ),
      f1: point('f1', bestFBetaCut(cuts, threshold, 1)?.tauLogit ?? null, 'the validation half holds no READY pair'),
      cost: point(
        'cost',
        map === null ? null : crossing(map, level),
        `no score is calibrated to a probability of ${level.toFixed(2)}`,
      ),
      fixed: point('fixed', logitOf(config.fixedTau), ''),
    },
  }
}

/** What selecting logits >= tauLogit does to these pairs. */
export function figuresAt(pairs: ValidationPairs, tauLogit: number | null): SelectionFigures {
  let selectedPairs = 0
  let truePositives = 0
  const selectedGroups = new Set<string>()
  pairs.groups.forEach((group, i) => {
    if (tauLogit === null || (pairs.logits[i] as number) < tauLogit) return
    selectedPairs += 1
    truePositives += pairs.labels[i] as number
    selectedGroups.add(group)
  })
  const positives = countPositives(pairs)
  return {
    pairs: pairs.groups.length,
    positives,
    selectedPairs,
    selectedGroups: selectedGroups.size,
    precision: selectedPairs === 0 ? null : truePositives / selectedPairs,
    recall: positives === 0 ? null : truePositives / positives,
  }
}
