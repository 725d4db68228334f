/**
 * How often an interaction is READY by its age, its place and its length, per source: what a router must beat. Pure.
 */
import { auroc } from '../../src/metrics/auroc.ts'
import { interactionText } from '../../src/trajectory/interaction-text.ts'
import { labelAt } from './label-record.ts'
import { AGE_BUCKETS, MIN_FUTURE_INTERACTIONS, type NamedCount, type PairCount } from './label-stats.ts'
import type { LabelledRun } from './match-labels.ts'

/** Characters of S_i, half-open. */
export const LENGTH_BUCKETS: readonly (readonly [start: number, end: number])[] = [
  [0, 64],
  [64, 256],
  [256, 1024],
  [1024, 4096],
  [4096, 16_384],
  [16_384, Number.POSITIVE_INFINITY],
]
/** Fifths of i / c. */
const POSITION_BUCKETS = 5

export interface SourceCurves {
  /** Domain, or `all`. */
  readonly name: string
  readonly runs: number
  readonly interactions: number
  readonly all: PairCount
  readonly withFuture: PairCount
  /** Buckets of c - i: AGE_BUCKETS. */
  readonly age: readonly NamedCount[]
  /** i / c, from the beginning of the prefix to its end. */
  readonly position: readonly NamedCount[]
  /** Characters of S_i: LENGTH_BUCKETS. */
  readonly sourceLength: readonly NamedCount[]
  /** Mean over runs with both classes of the AUROC of one number alone; null without such a run. */
  readonly ageAuroc: number | null
  readonly lengthAuroc: number | null
}

/** All sources together first, then each by name. */
export function labelCurves(labelled: readonly LabelledRun[]): readonly SourceCurves[] {
  const all = createCounters('all')
  const sources = new Map<string, Counters>()
  for (const run of labelled) {
    const { domain } = run.trajectory
    const own = sources.get(domain) ?? createCounters(domain)
    sources.set(domain, own)
    countRun(run, [all, own])
  }
  return [all, ...[...sources.values()].sort((a, b) => (a.name < b.name ? -1 : 1))].map(finish)
}

interface Count {
  pairs: number
  ready: number
}

interface Counters {
  readonly name: string
  runs: number
  interactions: number
  readonly all: Count
  readonly withFuture: Count
  readonly age: readonly Count[]
  readonly position: readonly Count[]
  readonly sourceLength: readonly Count[]
  readonly ageAurocs: number[]
  readonly lengthAurocs: number[]
}

function createCounters(name: string): Counters {
  const count = (): Count => ({ pairs: 0, ready: 0 })
  return {
    name,
    runs: 0,
    interactions: 0,
    all: count(),
    withFuture: count(),
    age: AGE_BUCKETS.map(count),
    position: Array.from({ length: POSITION_BUCKETS }, count),
    sourceLength: LENGTH_BUCKETS.map(count),
    ageAurocs: [],
    lengthAurocs: [],
  }
}

function countRun({ trajectory, row }: LabelledRun, into: readonly Counters[]): void {
  const length = row.interactionCount
  const labels: number[] = []
  const ages: number[] = []
  const lengths: number[] = []
  for (const label of row.labels) {
    const interaction = trajectory.interactions[label.interaction]
    const chars = interaction === undefined ? 0 : interactionText(interaction).length
    for (let checkpoint = label.interaction + 2; checkpoint < length; checkpoint++) {
      const ready = labelAt(label, checkpoint)
      const age = checkpoint - label.interaction
      labels.push(ready)
      ages.push(age)
      lengths.push(chars)
      for (const counters of into) {
        add(counters.all, ready)
        if (length - checkpoint >= MIN_FUTURE_INTERACTIONS) add(counters.withFuture, ready)
        add(counters.age[bucketOf(AGE_BUCKETS, age)], ready)
        add(counters.position[Math.floor((POSITION_BUCKETS * label.interaction) / checkpoint)], ready)
        add(counters.sourceLength[bucketOf(LENGTH_BUCKETS, chars)], ready)
      }
    }
  }
  const ageArea = auroc(ages, labels)
  const lengthArea = auroc(lengths, labels)
  for (const counters of into) {
    counters.runs++
    counters.interactions += length
    if (ageArea !== null) counters.ageAurocs.push(ageArea)
    if (lengthArea !== null) counters.lengthAurocs.push(lengthArea)
  }
}

function add(count: Count | undefined, ready: number): void {
  if (count === undefined) return
  count.pairs++
  count.ready += ready
}

function bucketOf(buckets: readonly (readonly [number, number])[], value: number): number {
  return buckets.findIndex(([start, end]) => value >= start && value < end)
}

function finish(counters: Counters): SourceCurves {
  const { ageAurocs, lengthAurocs, age, position, sourceLength, ...rest } = counters
  return {
    ...rest,
    age: age.map((count, at) => ({ name: bucketName(AGE_BUCKETS[at]), ...count })),
    position: position.map((count, at) => ({
      name: `${at / POSITION_BUCKETS}-${(at + 1) / POSITION_BUCKETS}`,
      ...count,
    })),
    sourceLength: sourceLength.map((count, at) => ({ name: bucketName(LENGTH_BUCKETS[at]), ...count })),
    ageAuroc: mean(ageAurocs),
    lengthAuroc: mean(lengthAurocs),
  }
}

function bucketName([start, end]: readonly [number, number] = [0, 0]): string {
  if (end === Number.POSITIVE_INFINITY) return `${start}+`
  return end === start + 1 ? String(start) : `${start}-${end - 1}`
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}
