/**
 * What a set of labels looks like: pairs, prevalence, and where boundaries lie. Pure counting.
 * A pair is (i, c) with a training checkpoint c = 2 .. N-1 and a target i in [0, c-1).
 */
import { type InteractionLabel, labelAt } from './label-record.ts'
import type { LabelledRun } from './match-labels.ts'

/** Labels are right-censored: with fewer interactions left, "no later use" says little (DESIGN section 9). */
export const MIN_FUTURE_INTERACTIONS = 5

/** Half-open ranges [start, end) of ages c - i and of delays b_i - i; the smallest either can be is 2. */
export const AGE_BUCKETS: readonly (readonly [start: number, end: number])[] = [
  [2, 3],
  [3, 5],
  [5, 9],
  [9, 17],
  [17, 33],
  [33, 65],
  [65, Number.POSITIVE_INFINITY],
]

export interface PairCount {
  readonly pairs: number
  readonly ready: number
}

export interface NamedCount extends PairCount {
  readonly name: string
}

export interface LabelStats {
  readonly annotators: readonly string[]
  readonly runs: number
  /** Runs cut by a limit, and their pairs: there "no later use" may only mean that the run stopped. */
  readonly truncated: { readonly runs: number; readonly pairs: number }
  readonly interactions: number
  readonly all: PairCount
  /** Pairs with at least MIN_FUTURE_INTERACTIONS to come. */
  readonly withFuture: PairCount
  /** Mean over runs with pairs of the run's own prevalence: each run weighs the same. */
  readonly meanRunPrevalence: number
  readonly byDomain: readonly (NamedCount & { readonly runs: number; readonly withFuture: PairCount })[]
  readonly byAge: readonly NamedCount[]
  /** Interactions that are targets of some checkpoint, by b_i - i. */
  readonly boundaries: readonly { readonly name: string; readonly interactions: number }[]
}

export function labelStats(labelled: readonly LabelledRun[]): LabelStats {
  const all = counter()
  const withFuture = counter()
  const truncated = { runs: 0, pairs: 0 }
  const domains = new Map<string, { runs: number; all: Counter; withFuture: Counter }>()
  const ages = AGE_BUCKETS.map(() => counter())
  const boundaries = new Map<string, number>(boundaryNames().map((name) => [name, 0]))
  let interactions = 0
  let prevalenceSum = 0
  let runsWithPairs = 0
  for (const { trajectory, row } of labelled) {
    const run = counter()
    const length = row.interactionCount
    const domain = domains.get(trajectory.domain) ?? { runs: 0, all: counter(), withFuture: counter() }
    domains.set(trajectory.domain, domain)
    for (const label of row.labels) {
      for (let checkpoint = label.interaction + 2; checkpoint < length; checkpoint++) {
        const ready = labelAt(label, checkpoint)
        const counters = [run, all, domain.all, ages[bucketOf(checkpoint - label.interaction)]]
        if (length - checkpoint >= MIN_FUTURE_INTERACTIONS) counters.push(withFuture, domain.withFuture)
        for (const one of counters) if (one !== undefined) count(one, ready)
      }
      if (label.interaction + 2 < length) {
        const name = boundaryName(label, length)
        boundaries.set(name, (boundaries.get(name) ?? 0) + 1)
      }
    }
    domain.runs++
    interactions += length
    if (trajectory.truncated) {
      truncated.runs++
      truncated.pairs += run.pairs
    }
    if (run.pairs > 0) {
      prevalenceSum += prevalence(run)
      runsWithPairs++
    }
  }
  return {
    annotators: [...new Set(labelled.map(({ row }) => row.annotator))],
    runs: labelled.length,
    truncated,
    interactions,
    all,
    withFuture,
    meanRunPrevalence: runsWithPairs === 0 ? 0 : prevalenceSum / runsWithPairs,
    byDomain: [...domains.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, domain]) => ({ name, ...domain.all, runs: domain.runs, withFuture: domain.withFuture })),
    byAge: ages.map((one, bucket) => ({ name: bucketName(bucket), ...one })),
    boundaries: [...boundaries.entries()].map(([name, number]) => ({ name, interactions: number })),
  }
}

/** Share of READY pairs, 0 where there are none. */
export function prevalence(count: PairCount): number {
  return count.pairs === 0 ? 0 : count.ready / count.pairs
}

interface Counter {
  pairs: number
  ready: number
}

function counter(): Counter {
  return { pairs: 0, ready: 0 }
}

function count(into: Counter, ready: number): void {
  into.pairs++
  into.ready += ready
}

function bucketOf(steps: number): number {
  return AGE_BUCKETS.findIndex(([start, end]) => steps >= start && steps < end)
}

function bucketName(bucket: number): string {
  const [start, end] = AGE_BUCKETS[bucket] ?? [0, 0]
  if (end === Number.POSITIVE_INFINITY) return `${start}+`
  return end === start + 1 ? String(start) : `${start}-${end - 1}`
}

/** Used by the very last interaction: READY only when the run is over, so no pair shows it. */
const AT_THE_END = 'at the end'
const NEVER = 'never'

function boundaryNames(): readonly string[] {
  return [...AGE_BUCKETS.map((_, bucket) => bucketName(bucket)), AT_THE_END, NEVER]
}

function boundaryName(label: InteractionLabel, length: number): string {
  if (label.boundary === null) return NEVER
  return label.boundary >= length ? AT_THE_END : bucketName(bucketOf(label.boundary - label.interaction))
}
