/**
 * Metrics as functions of group multiplicities, prepared once so that a bootstrap draw is cheap:
 * ratios of sums cost O(G) per draw, AUROC O(G^2), average precision one pass over the ranked rows. Pure.
 *   G = groups, n = rows; `group` columns hold numbers in [0, G)
 */
import type { GroupStatistic } from './bootstrap.ts'
import { type Ranking, requireSameLength } from './ranking.ts'

/** Columns have one entry per row of the scores; only the rows that the ranking holds count. */
export interface RankedGroups {
  readonly ranking: Ranking
  readonly labels: ArrayLike<number>
  readonly group: ArrayLike<number>
  /** (n) >= 0, default 1; multiplied by the group's multiplicity. */
  readonly weights?: ArrayLike<number>
  readonly groups: number
}

/** Sum over groups of numerator / sum of denominator; null when the denominator is 0. Means and rates are of this form. */
export function groupedRatio(numerator: ArrayLike<number>, denominator: ArrayLike<number>): GroupStatistic {
  requireSameLength('groupedRatio', numerator.length, { denominators: denominator.length })
  return (multiplicity) => {
    let above = 0
    let below = 0
    for (let group = 0; group < numerator.length; group++) {
      const times = multiplicity[group] ?? 0
      above += times * (numerator[group] ?? 0)
      below += times * (denominator[group] ?? 0)
    }
    return below > 0 ? above / below : null
  }
}

/** (G) sums of a column by group. */
export function sumByGroup(values: ArrayLike<number>, group: ArrayLike<number>, groups: number): Float64Array {
  const sums = new Float64Array(groups)
  for (let i = 0; i < values.length; i++) {
    const g = group[i] ?? 0
    sums[g] = (sums[g] ?? 0) + (values[i] ?? 0)
  }
  return sums
}

/** AUROC: wins[g, g'] = weight of couples (positive of g above negative of g'), ties half; then a quadratic form. */
export function groupedAuroc({ ranking, labels, group, weights, groups }: RankedGroups): GroupStatistic {
  const { order, tieEnds } = ranking
  const wins = new Float64Array(groups * groups)
  const positives = new Float64Array(groups)
  const negatives = new Float64Array(groups)
  let position = 0
  for (const end of tieEnds) {
    const tieStart = position
    const tiePositives = new Map<number, number>()
    for (; position < end; position++) {
      const row = order[position] ?? 0
      if (labels[row] !== 1) continue
      const g = group[row] ?? 0
      tiePositives.set(g, (tiePositives.get(g) ?? 0) + (weights === undefined ? 1 : (weights[row] ?? 0)))
    }
    for (const [g, weight] of tiePositives) positives[g] = (positives[g] ?? 0) + weight / 2
    for (let at = tieStart; at < end; at++) {
      const row = order[at] ?? 0
      if (labels[row] === 1) continue
      const g = group[row] ?? 0
      const weight = weights === undefined ? 1 : (weights[row] ?? 0)
      negatives[g] = (negatives[g] ?? 0) + weight
      for (let above = 0; above < groups; above++)
        wins[above * groups + g] = (wins[above * groups + g] ?? 0) + weight * (positives[above] ?? 0)
    }
    for (const [g, weight] of tiePositives) positives[g] = (positives[g] ?? 0) + weight / 2
  }
  const withPositives = presentGroups(positives)
  const withNegatives = presentGroups(negatives)
  return (multiplicity) => {
    let above = 0
    let allPositives = 0
    let allNegatives = 0
    for (const g of withNegatives) allNegatives += (multiplicity[g] ?? 0) * (negatives[g] ?? 0)
    for (const g of withPositives) {
      const times = multiplicity[g] ?? 0
      if (times === 0) continue
      allPositives += times * (positives[g] ?? 0)
      const row = g * groups
      let own = 0
      for (const other of withNegatives) own += (multiplicity[other] ?? 0) * (wins[row + other] ?? 0)
      above += times * own
    }
    return allPositives > 0 && allNegatives > 0 ? above / (allPositives * allNegatives) : null
  }
}

/** Groups with weight: a domain holds few of a rotation's groups. */
function presentGroups(weights: Float64Array): Uint16Array {
  return Uint16Array.from(weights.keys()).filter((group) => (weights[group] ?? 0) > 0)
}

/** Average precision over rows that are ranked once. */
export function groupedAveragePrecision({ ranking, labels, group, weights }: RankedGroups): GroupStatistic {
  const { order, tieEnds } = ranking
  const n = order.length
  const groupAt = new Uint16Array(n)
  const weightAt = new Float64Array(n)
  const positiveAt = new Float64Array(n)
  for (let position = 0; position < n; position++) {
    const row = order[position] ?? 0
    const weight = weights === undefined ? 1 : (weights[row] ?? 0)
    groupAt[position] = group[row] ?? 0
    weightAt[position] = weight
    positiveAt[position] = labels[row] === 1 ? weight : 0
  }
  return (multiplicity) => {
    let truePositives = 0
    let selected = 0
    let area = 0
    let position = 0
    for (let tie = 0; tie < tieEnds.length; tie++) {
      const end = tieEnds[tie] ?? n
      let tiePositives = 0
      for (; position < end; position++) {
        const times = multiplicity[groupAt[position] ?? 0] ?? 0
        selected += times * (weightAt[position] ?? 0)
        tiePositives += times * (positiveAt[position] ?? 0)
      }
      truePositives += tiePositives
      if (tiePositives > 0) area += tiePositives * (truePositives / selected)
    }
    return truePositives > 0 ? area / truePositives : null
  }
}
