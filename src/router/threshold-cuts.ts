/**
 * Every place where a threshold can lie between validation logits, and the best one by several rules. Pure.
 */
import type { IsotonicMap } from '../metrics/isotonic.ts'
import { countPositives, type ValidationPairs } from './validation-halves.ts'

/** A logit above which everything is selected by the cut, with what the cut selects. */
export interface Cut {
  readonly tauLogit: number
  readonly selected: number
  readonly truePositives: number
  readonly groups: number
}

/** What `lowestPreciseCut` asks of a cut. */
export interface PrecisionTarget {
  readonly targetPrecision: number
  readonly minSelectedPairs: number
  readonly minSelectedGroups: number
}

/** The lowest cut has no logit below it to keep a distance from. */
const BELOW_LOWEST = 1e-3

/** One cut below each distinct logit, from the highest down; tau lies halfway to the next logit. */
export function cutsOf(pairs: ValidationPairs): readonly Cut[] {
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

export function lowestPreciseCut(cuts: readonly Cut[], target: PrecisionTarget): Cut | undefined {
  return cuts.findLast(
    (cut) =>
      cut.truePositives / cut.selected >= target.targetPrecision &&
      cut.selected >= target.minSelectedPairs &&
      cut.groups >= target.minSelectedGroups,
  )
}

/** F_beta = (1 + b^2) tp / (selected + b^2 positives). Ties go to the higher threshold: fewer READY at the same value. */
export function bestFBetaCut(cuts: readonly Cut[], pairs: ValidationPairs, beta: number): Cut | undefined {
  const positives = countPositives(pairs)
  const square = beta * beta
  const value = (cut: Cut): number => ((1 + square) * cut.truePositives) / (cut.selected + square * positives)
  return cuts
    .filter((cut) => cut.truePositives > 0)
    .reduce<Cut | undefined>((best, cut) => (best === undefined || value(cut) > value(best) ? cut : best), undefined)
}

/** Lowest logit whose calibrated value reaches `level`; null if none does. */
export function crossing(map: IsotonicMap, level: number): number | null {
  const reached = map.values.findIndex((value) => value >= level)
  if (reached === -1) return null
  const score = map.scores[reached] as number
  const below = reached - 1
  if (below < 0) return score
  const [x0, y0, y1] = [map.scores[below] as number, map.values[below] as number, map.values[reached] as number]
  return x0 + ((level - y0) / (y1 - y0)) * (score - x0)
}
