/**
 * Average precision as a function of group multiplicities: the rows are ranked once and each draw is one pass over them.
 * A bootstrap spends most of its time here, so four draws share a pass, and rows of one tie and one group are one entry. Pure.
 */
import { rankedAveragePrecision } from './average-precision.ts'
import type { GroupDraws, GroupStatistic } from './bootstrap.ts'
import type { RankedGroups } from './group-statistics.ts'

/** Draws that share a pass: their sums are 12 numbers, which stay in registers. */
const LANES = 4

/**
 * Starts the sum of selected weights: vanishes beside any weight, and makes 0 / 0 before the first one a 0. Whether a group
 * was drawn is a coin toss, so a branch on it would be mispredicted half the time.
 */
const TINY = 1e-300

const HOLDS_POSITIVES = 1
/** Last entry of a tie in which some entry holds positives: here the curve takes a step. */
const ENDS_STEP = 2

/** In ranking order; one entry per tie and group. */
interface Entries {
  readonly count: number
  /** Number of the group times LANES. */
  readonly lane: Uint32Array
  readonly weight: Float64Array
  readonly positive: Float64Array
  readonly flags: Uint8Array
}

/** Average precision over rows that are ranked once; null when no positive has weight. */
export function groupedAveragePrecision(columns: RankedGroups): GroupStatistic {
  let entries: Entries | null = null
  const run = (lanes: Float64Array, out: Float64Array): void => {
    entries ??= entriesOf(columns)
    averagePrecisions(entries, lanes, out)
  }
  const statistic = (multiplicity: ArrayLike<number>): number | null => {
    const lanes = new Float64Array(columns.groups * LANES)
    for (let group = 0; group < columns.groups; group++) lanes[group * LANES] = multiplicity[group] ?? 0
    const out = new Float64Array(LANES)
    run(lanes, out)
    const value = out[0] ?? Number.NaN
    return Number.isNaN(value) ? null : value
  }
  return Object.assign(statistic, {
    point: () => rankedAveragePrecision(columns.ranking, columns.labels, columns.weights),
    resample: (draws: GroupDraws) => resample(draws, run),
  })
}

function resample(
  { groups, resamples, counts }: GroupDraws,
  run: (lanes: Float64Array, out: Float64Array) => void,
): Float64Array {
  const values = new Float64Array(resamples)
  const lanes = new Float64Array(groups * LANES)
  const out = new Float64Array(LANES)
  for (let start = 0; start < resamples; start += LANES) {
    const used = Math.min(LANES, resamples - start)
    lanes.fill(0)
    for (let lane = 0; lane < used; lane++)
      for (let group = 0, at = (start + lane) * groups; group < groups; group++, at++)
        lanes[group * LANES + lane] = counts[at] ?? 0
    run(lanes, out)
    values.set(out.subarray(0, used), start)
  }
  return values
}

function entriesOf({ ranking, labels, group, weights, groups }: RankedGroups): Entries {
  const { order, tieEnds } = ranking
  const lane = new Uint32Array(order.length)
  const weight = new Float64Array(order.length)
  const positive = new Float64Array(order.length)
  const flags = new Uint8Array(order.length)
  const entryOf = new Int32Array(groups)
  let count = 0
  let position = 0
  for (const end of tieEnds) {
    const first = count
    let step = false
    for (; position < end; position++) {
      const row = order[position] ?? 0
      const g = group[row] ?? 0
      const own = weights === undefined ? 1 : (weights[row] ?? 0)
      if (own === 0) continue
      let at = entryOf[g] ?? 0
      // A number below `first` is left over from an earlier tie.
      if (at < first || at >= count || lane[at] !== g * LANES) {
        at = count++
        entryOf[g] = at
        lane[at] = g * LANES
      }
      weight[at] = (weight[at] ?? 0) + own
      if (labels[row] !== 1) continue
      positive[at] = (positive[at] ?? 0) + own
      flags[at] = HOLDS_POSITIVES
      step = true
    }
    if (step) flags[count - 1] = (flags[count - 1] ?? 0) | ENDS_STEP
  }
  return { count, lane, weight, positive, flags }
}

/**
 *   lanes  (groups * LANES) multiplicities of LANES draws, group by group
 *   out    (LANES) their average precisions, NaN without positives
 */
function averagePrecisions({ count, lane, weight, positive, flags }: Entries, lanes: Float64Array, out: Float64Array) {
  let [selected0, selected1, selected2, selected3] = [TINY, TINY, TINY, TINY]
  let [tie0, tie1, tie2, tie3] = [0, 0, 0, 0]
  let [true0, true1, true2, true3] = [0, 0, 0, 0]
  let [area0, area1, area2, area3] = [0, 0, 0, 0]
  for (let entry = 0; entry < count; entry++) {
    const at = lane[entry] as number
    const m0 = lanes[at] as number
    const m1 = lanes[at + 1] as number
    const m2 = lanes[at + 2] as number
    const m3 = lanes[at + 3] as number
    const w = weight[entry] as number
    selected0 += m0 * w
    selected1 += m1 * w
    selected2 += m2 * w
    selected3 += m3 * w
    const flag = flags[entry] as number
    if (flag === 0) continue
    const p = positive[entry] as number
    tie0 += m0 * p
    tie1 += m1 * p
    tie2 += m2 * p
    tie3 += m3 * p
    if (flag < ENDS_STEP) continue
    true0 += tie0
    true1 += tie1
    true2 += tie2
    true3 += tie3
    area0 += tie0 * (true0 / selected0)
    area1 += tie1 * (true1 / selected1)
    area2 += tie2 * (true2 / selected2)
    area3 += tie3 * (true3 / selected3)
    tie0 = tie1 = tie2 = tie3 = 0
  }
  out[0] = true0 > 0 ? area0 / true0 : Number.NaN
  out[1] = true1 > 0 ? area1 / true1 : Number.NaN
  out[2] = true2 > 0 ? area2 / true2 : Number.NaN
  out[3] = true3 > 0 ? area3 / true3 : Number.NaN
}
