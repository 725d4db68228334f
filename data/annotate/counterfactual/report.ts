/**
 * What the gains look like, and whether they agree with literals: figures for a person, and as JSON. Pure.
 */
import { buildLiteralIndex } from '../../../src/evidence/literal-index.ts'
import {
  drawGroups,
  type GroupStatistic,
  type Interval,
  percentileInterval,
  pointEstimate,
  quantile,
  resampleStatistic,
} from '../../../src/metrics/bootstrap.ts'
import { groupedAuroc } from '../../../src/metrics/group-statistics.ts'
import { rankByScore } from '../../../src/metrics/ranking.ts'
import { createRng, deriveSeed } from '../../../src/rng.ts'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { labelStats, prevalence } from '../label-stats.ts'
import { matchLabels } from '../match-labels.ts'
import { type CounterfactualLabels, labelAll } from './annotate-counterfactual.ts'
import { type Gain, mattered } from './gains.ts'
import type { ActionMeasurement } from './measurement.ts'
import type { CounterfactualSettings } from './settings.ts'

/** Half-open ranges of j - i. */
const DISTANCES: readonly (readonly [from: number, to: number])[] = [
  [1, 2],
  [2, 3],
  [3, 5],
  [5, 9],
  [9, 17],
  [17, 33],
  [33, Number.POSITIVE_INFINITY],
]
const RESAMPLES = 1000
const QUANTILES = [0.9, 0.95, 0.99] as const

export interface DistanceRow {
  /** j - i, e.g. `3-4`. */
  readonly distance: string
  readonly pairs: number
  /** Share of gains above the limit; by chance alone it is 1 - quantile. */
  readonly above: number
  /** Median gain, nats and units. */
  readonly medianNats: number
  readonly medianUnits: number
  /** Share of pairs in which action j uses a literal that S_i introduced. */
  readonly uptake: number
}

/** How well a score tells pairs with uptake from those without; null where one of the two is missing. */
export interface AgreementRow {
  readonly score: 'gain in units' | 'gain in nats' | 'nearness, -(j - i)'
  /** Pairs with j - i above this: 0 for all, else those whose target stands in no view's recent interactions. */
  readonly beyond: number
  readonly pairs: number
  readonly auroc: number | null
  /** 95 %, over groups. */
  readonly interval: Interval | null
}

/** What another quantile of the same measurements would give. */
export interface QuantileRow {
  readonly quantile: number
  readonly limitUnits: number
  readonly above: number
  readonly prevalence: number
}

export interface CounterfactualReport {
  readonly annotator: string
  readonly settings: CounterfactualSettings
  readonly quantile: number
  readonly limitUnits: number
  readonly runs: number
  readonly actions: number
  /** Pairs (i, j) and placebos that were measured. */
  readonly pairs: number
  readonly placebos: number
  /** Share of all gains above the limit. */
  readonly above: number
  readonly byDistance: readonly DistanceRow[]
  /** Pairs in which action j uses a literal that S_i introduced. */
  readonly uptakePairs: number
  /** Share of gains above the limit with and without such a literal. */
  readonly aboveWithUptake: number | null
  readonly aboveWithoutUptake: number | null
  readonly agreement: readonly AgreementRow[]
  /** Pairs (i, c) of the labels and the share that is READY. */
  readonly labelledPairs: number
  readonly prevalence: number
  readonly byQuantile: readonly QuantileRow[]
}

export function counterfactualReport(
  runs: readonly Trajectory[],
  done: {
    readonly labels: CounterfactualLabels
    readonly measurements: readonly ActionMeasurement[]
    readonly settings: CounterfactualSettings
    readonly quantile: number
    readonly annotator: string
  },
): CounterfactualReport {
  const { labels, measurements, settings, annotator } = done
  const { gains, limit } = labels
  const uptake = uptakes(runs, gains)
  const isAbove = gains.map((gain) => mattered(gain, limit))
  const stats = labelStats(matchLabels(runs, labels.rows))
  const where = (used: 0 | 1): number | null => share(isAbove.filter((_, k) => uptake[k] === used))
  return {
    annotator,
    settings,
    quantile: done.quantile,
    limitUnits: limit,
    runs: runs.length,
    actions: measurements.length,
    pairs: gains.length,
    placebos: measurements.flatMap(({ strata }) => strata.flatMap(({ placebos }) => placebos)).length,
    above: share(isAbove) ?? 0,
    byDistance: DISTANCES.flatMap((range) => distanceRow(range, { gains, isAbove, uptake })),
    uptakePairs: uptake.reduce((sum, used) => sum + used, 0),
    aboveWithUptake: where(1),
    aboveWithoutUptake: where(0),
    agreement: agreements(runs, { gains, uptake, settings }),
    labelledPairs: stats.all.pairs,
    prevalence: prevalence(stats.all),
    byQuantile: QUANTILES.map((quantile) => quantileRow(runs, { measurements, annotator, quantile })),
  }
}

function quantileRow(
  runs: readonly Trajectory[],
  work: { readonly measurements: readonly ActionMeasurement[]; readonly annotator: string; readonly quantile: number },
): QuantileRow {
  const { rows, gains, limit } = labelAll(runs, work)
  return {
    quantile: work.quantile,
    limitUnits: limit,
    above: share(gains.map((gain) => mattered(gain, limit))) ?? 0,
    prevalence: prevalence(labelStats(matchLabels(runs, rows)).all),
  }
}

/** (gains) 1 where the action, or the reasoning before it, uses a literal that the interaction introduced. */
function uptakes(runs: readonly Trajectory[], gains: readonly Gain[]): Uint8Array {
  const used = new Set<string>()
  for (const run of runs) {
    const { touches, canonical } = buildLiteralIndex(run)
    for (const [source, later] of touches.entries())
      for (const touch of later)
        if (touch.used > 0) used.add(pairKey(run.id, canonical[source] ?? -1, canonical[touch.position] ?? -1))
  }
  return Uint8Array.from(gains, ({ trajectory, interaction, action }) =>
    used.has(pairKey(trajectory, interaction, action)) ? 1 : 0,
  )
}

function pairKey(run: string, interaction: number, action: number): string {
  return `${interaction} ${action} ${run}`
}

function distanceRow(
  [from, to]: readonly [number, number],
  of: { readonly gains: readonly Gain[]; readonly isAbove: readonly boolean[]; readonly uptake: Uint8Array },
): readonly DistanceRow[] {
  const rows = [...of.gains.entries()].filter(([, gain]) => {
    const distance = distanceOf(gain)
    return distance >= from && distance < to
  })
  if (rows.length === 0) return []
  return [
    {
      distance: to === Number.POSITIVE_INFINITY ? `${from}+` : to === from + 1 ? String(from) : `${from}-${to - 1}`,
      pairs: rows.length,
      above: share(rows.map(([k]) => of.isAbove[k] ?? false)) ?? 0,
      medianNats: median(rows.map(([, gain]) => gain.nats)),
      medianUnits: median(rows.map(([, gain]) => gain.nats / gain.unitNats)),
      uptake: share(rows.map(([k]) => of.uptake[k] === 1)) ?? 0,
    },
  ]
}

function agreements(
  runs: readonly Trajectory[],
  of: { readonly gains: readonly Gain[]; readonly uptake: Uint8Array; readonly settings: CounterfactualSettings },
): readonly AgreementRow[] {
  const { seed, recentInteractions } = of.settings
  const groupOf = new Map(runs.map((run) => [run.id, run.group]))
  const names = [...new Set(groupOf.values())]
  const number = new Map(names.map((name, k) => [name, k]))
  const groups = names.length
  const draws = drawGroups({ groups, resamples: RESAMPLES }, createRng(deriveSeed(seed, 'counterfactual-report')))
  return [0, recentInteractions].flatMap((beyond) => {
    const rows = [...of.gains.keys()].filter((k) => distanceOf(of.gains[k]) > beyond)
    const labels = rows.map((k) => of.uptake[k] ?? 0)
    const group = rows.map((k) => number.get(groupOf.get(of.gains[k]?.trajectory ?? '') ?? '') ?? 0)
    const row = (score: AgreementRow['score'], value: (gain: Gain) => number): AgreementRow => {
      const ranking = rankByScore(rows.flatMap((k) => of.gains.slice(k, k + 1).map(value)))
      const statistic: GroupStatistic = groupedAuroc({ ranking, labels, group, groups })
      const auroc = pointEstimate(groups, statistic)
      const interval = auroc === null ? null : percentileInterval(resampleStatistic(draws, statistic))
      return { score, beyond, pairs: rows.length, auroc, interval }
    }
    return [
      row('gain in units', ({ nats, unitNats }) => nats / unitNats),
      row('gain in nats', ({ nats }) => nats),
      row('nearness, -(j - i)', (gain) => -distanceOf(gain)),
    ]
  })
}

/** j - i; 0 for none. */
function distanceOf(gain: Gain | undefined): number {
  return gain === undefined ? 0 : gain.action - gain.interaction
}

/** null for none. */
function share(flags: readonly boolean[]): number | null {
  return flags.length === 0 ? null : flags.filter(Boolean).length / flags.length
}

function median(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5)
}
