/**
 * Operating points: thresholds chosen on validation pairs only (DESIGN section 8). Pure.
 * Thresholds and calibration use disjoint halves of the validation groups, so that neither flatters the other.
 */
import { fitIsotonic, type IsotonicMap } from '../metrics/isotonic.ts'
import { logitOf, sigmoid, type Threshold } from './decide.ts'

export const OPERATING_POINT_NAMES = ['precision', 'f1', 'cost', 'fixed'] as const
export type OperatingPointName = (typeof OPERATING_POINT_NAMES)[number]
export const DEFAULT_OPERATING_POINT: OperatingPointName = 'precision'

export interface OperatingPointConfig {
  /** `precision`: least validation precision, and the least support it needs to count. */
  readonly targetPrecision: number
  readonly minSelectedPairs: number
  readonly minSelectedGroups: number
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

export interface ValidationPairs {
  /** (n) */
  readonly logits: ArrayLike<number>
  readonly labels: ArrayLike<number>
  /** (n) group of each pair. */
  readonly groups: readonly string[]
}

/** A logit above which everything is selected by the cut, with what the cut selects. */
interface Cut {
  readonly tauLogit: number
  readonly selected: number
  readonly truePositives: number
  readonly groups: number
}

/** The lowest cut has no logit below it to keep a distance from. */
const BELOW_LOWEST = 1e-3

export function chooseOperatingPoints(
  validation: ValidationPairs,
  config: OperatingPointConfig = DEFAULT_OPERATING_POINT_CONFIG,
): OperatingPoints {
  const halves = splitGroups(validation)
  const threshold = takeGroups(validation, halves.threshold)
  const calibration = takeGroups(validation, halves.calibration)
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
      f1: point('f1', bestF1Cut(cuts, threshold)?.tauLogit ?? null, 'the validation half holds no READY pair'),
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

/** Groups by falling number of READY pairs, dealt A B B A ..., so that both halves hold positives; ties by name. */
function splitGroups(pairs: ValidationPairs): {
  readonly threshold: ReadonlySet<string>
  readonly calibration: ReadonlySet<string>
} {
  const positives = new Map<string, number>()
  pairs.groups.forEach((group, i) => {
    positives.set(group, (positives.get(group) ?? 0) + (pairs.labels[i] as number))
  })
  const ordered = [...positives].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([group]) => group)
  const inThreshold = (rank: number): boolean => rank % 4 === 0 || rank % 4 === 3
  return {
    threshold: new Set(ordered.filter((_, rank) => inThreshold(rank))),
    calibration: new Set(ordered.filter((_, rank) => !inThreshold(rank))),
  }
}

function takeGroups(pairs: ValidationPairs, groups: ReadonlySet<string>): ValidationPairs {
  const kept = [...pairs.groups.keys()].filter((i) => groups.has(pairs.groups[i] as string))
  return {
    logits: kept.map((i) => pairs.logits[i] as number),
    labels: kept.map((i) => pairs.labels[i] as number),
    groups: kept.map((i) => pairs.groups[i] as string),
  }
}

/** One cut below each distinct logit, from the highest down; tau lies halfway to the next logit. */
function cutsOf(pairs: ValidationPairs): readonly Cut[] {
  const order = [...pairs.groups.keys()].sort((a, b) => (pairs.logits[b] as number) - (pairs.logits[a] as number))
  const groups = new Set<string>()
  const cuts: Cut[] = []
  let truePositives = 0
  order.forEach((i, rank) => {
    truePositives += pairs.labels[i] as number
    groups.add(pairs.groups[i] as string)
    const logit = pairs.logits[i] as number
    const next = order[rank + 1]
    const below = next === undefined ? logit - 2 * BELOW_LOWEST : (pairs.logits[next] as number)
    if (below < logit)
      cuts.push({ tauLogit: (logit + below) / 2, selected: rank + 1, truePositives, groups: groups.size })
  })
  return cuts
}

function lowestPreciseCut(cuts: readonly Cut[], config: OperatingPointConfig): Cut | undefined {
  return cuts.findLast(
    (cut) =>
      cut.truePositives / cut.selected >= config.targetPrecision &&
      cut.selected >= config.minSelectedPairs &&
      cut.groups >= config.minSelectedGroups,
  )
}

/** Ties go to the higher threshold: fewer READY at the same F1. */
function bestF1Cut(cuts: readonly Cut[], pairs: ValidationPairs): Cut | undefined {
  const positives = countPositives(pairs)
  const f1 = (cut: Cut): number => (2 * cut.truePositives) / (cut.selected + positives)
  return cuts
    .filter((cut) => cut.truePositives > 0)
    .reduce<Cut | undefined>((best, cut) => (best === undefined || f1(cut) > f1(best) ? cut : best), undefined)
}

/** Lowest logit whose calibrated value reaches `level`; null if none does. */
function crossing(map: IsotonicMap, level: number): number | null {
  const reached = map.values.findIndex((value) => value >= level)
  if (reached === -1) return null
  const score = map.scores[reached] as number
  const below = reached - 1
  if (below < 0) return score
  const [x0, y0, y1] = [map.scores[below] as number, map.values[below] as number, map.values[reached] as number]
  return x0 + ((level - y0) / (y1 - y0)) * (score - x0)
}

function countPositives(pairs: ValidationPairs): number {
  let positives = 0
  for (let i = 0; i < pairs.groups.length; i++) positives += pairs.labels[i] as number
  return positives
}
