/**
 * Metrics as functions of group multiplicities, prepared once so that a bootstrap draw is cheap:
 * ratios of sums cost O(G) per draw, AUROC O(G^2); average precision: grouped-average-precision.ts. Pure.
 *   G = groups, n = rows; `group` columns hold numbers in [0, G)
 */
import { rankedAuroc } from './auroc.ts'
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
export function groupedAuroc(columns: RankedGroups): GroupStatistic {
  let couples: Couples | null = null
  const statistic = (multiplicity: ArrayLike<number>): number | null => {
    couples ??= couplesOf(columns)
    return aurocOf(couples, multiplicity)
  }
  return Object.assign(statistic, {
    point: () => rankedAuroc(columns.ranking, columns.labels, columns.weights),
  })
}

interface Couples {
  /** Groups that hold positives, and negatives, with the weight of them. */
  readonly above: readonly { readonly group: number; readonly weight: number }[]
  readonly below: readonly { readonly group: number; readonly weight: number }[]
  /** (below, above) */
  readonly wins: Float64Array
}

function couplesOf({ ranking, labels, group, weights, groups }: RankedGroups): Couples {
  const { order, tieEnds } = ranking
  const own = (row: number): number => (weights === undefined ? 1 : (weights[row] ?? 0))
  const totals = [new Float64Array(groups), new Float64Array(groups)] as const
  for (const row of order) {
    const g = group[row] ?? 0
    const side = labels[row] === 1 ? totals[1] : totals[0]
    side[g] = (side[g] ?? 0) + own(row)
  }
  const above = presentGroups(totals[1])
  const below = presentGroups(totals[0])
  const aboveOf = indexOf(above, groups)
  const belowOf = indexOf(below, groups)
  // (below, above): the inner loop walks a row.
  const wins = new Float64Array(below.length * above.length)
  const positives = new Float64Array(above.length)
  let position = 0
  for (const end of tieEnds) {
    const tieStart = position
    let half = false
    for (; position < end; position++) {
      const row = order[position] ?? 0
      if (labels[row] !== 1) continue
      const at = aboveOf[group[row] ?? 0] ?? -1
      if (at === -1) continue
      positives[at] = (positives[at] ?? 0) + own(row) / 2
      half = true
    }
    for (let k = tieStart; k < end; k++) {
      const row = order[k] ?? 0
      if (labels[row] === 1) continue
      const weight = own(row)
      const at = belowOf[group[row] ?? 0] ?? -1
      if (at === -1) continue
      for (let k = 0, start = at * above.length; k < above.length; k++)
        wins[start + k] = (wins[start + k] as number) + weight * (positives[k] as number)
    }
    if (!half) continue
    for (let k = tieStart; k < end; k++) {
      const row = order[k] ?? 0
      const at = labels[row] === 1 ? (aboveOf[group[row] ?? 0] ?? -1) : -1
      if (at !== -1) positives[at] = (positives[at] ?? 0) + own(row) / 2
    }
  }
  return { above, below, wins }
}

function aurocOf({ above, below, wins }: Couples, multiplicity: ArrayLike<number>): number | null {
  let won = 0
  let allPositives = 0
  let allNegatives = 0
  for (const { group, weight } of above) allPositives += (multiplicity[group] ?? 0) * weight
  for (let b = 0; b < below.length; b++) {
    const { group, weight } = below[b] ?? { group: 0, weight: 0 }
    const times = multiplicity[group] ?? 0
    if (times === 0) continue
    allNegatives += times * weight
    const start = b * above.length
    let own = 0
    for (let a = 0; a < above.length; a++)
      own += (multiplicity[above[a]?.group ?? 0] ?? 0) * (wins[start + a] as number)
    won += times * own
  }
  return allPositives > 0 && allNegatives > 0 ? won / (allPositives * allNegatives) : null
}

/** Groups with weight: a domain holds few of a rotation's groups. */
function presentGroups(weights: Float64Array): Couples['above'] {
  return Array.from(weights, (weight, group) => ({ group, weight })).filter(({ weight }) => weight > 0)
}

/** (groups) place of each group in the list, -1 where it is not there. */
function indexOf(present: Couples['above'], groups: number): Int32Array {
  const out = new Int32Array(groups).fill(-1)
  present.forEach(({ group }, at) => {
    out[group] = at
  })
  return out
}
