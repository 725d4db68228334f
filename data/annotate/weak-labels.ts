/**
 * Labels held against what the logs themselves say (Mark, summaries, calls that write): weak labels, made by no annotator.
 * Pure counting. Each share stands beside the one that age alone would give there, since all of these follow age too.
 */
import type { Trajectory } from '../../src/trajectory/trajectory.ts'
import { labelAt } from './label-record.ts'
import { AGE_BUCKETS, type PairCount, prevalence } from './label-stats.ts'
import type { LabelledRun } from './match-labels.ts'

/** Pairs of one kind, and how many would be READY if each had the share that its age has in its source. */
export interface ExpectedCount extends PairCount {
  readonly expected: number
}

export interface WeakAgreement {
  readonly source: string
  /** What the log says, e.g. compactions or mistake steps, and in how many runs. */
  readonly marks: number
  readonly runs: number
  /** Pairs that the log's own evidence calls more READY, and those that it calls less so. */
  readonly more: ExpectedCount
  readonly less: ExpectedCount
}

/** A compaction at checkpoint `before`: what it replaced against what it kept. Sources without one are left out. */
export function compactionAgreement(labelled: readonly LabelledRun[]): readonly WeakAgreement[] {
  return bySource(labelled, (run, counter) => {
    const cuts = compactionsOf(run.trajectory).filter(({ before }) => before >= 2 && before < run.row.interactionCount)
    for (const { before, keptFrom } of cuts)
      for (const label of run.row.labels)
        if (label.interaction < before - 1)
          counter.add(label.interaction < keptFrom ? 'more' : 'less', {
            ready: labelAt(label, before),
            age: before - label.interaction,
          })
    return cuts.length
  })
}

/** Where the log does not say what was kept, a summary stands for all before it. */
function compactionsOf(run: Trajectory): readonly { readonly before: number; readonly keptFrom: number }[] {
  const marks = (run.marks ?? []).flatMap((mark) => (mark.kind === 'compaction' ? [mark] : []))
  if (marks.length > 0) return marks
  return run.turns.flatMap(({ kind, before }) => (kind === 'summary' ? [{ before, keptFrom: before }] : []))
}

/** Mistake steps (`more`: later steps build on them, or never look back) against their neighbours m - 1 and m + 1. */
export function mistakeAgreement(labelled: readonly LabelledRun[]): readonly WeakAgreement[] {
  return bySource(labelled, ({ trajectory, row }, counter) => {
    const steps = (trajectory.marks ?? []).flatMap((mark) => (mark.kind === 'mistake' ? [mark.interaction] : []))
    for (const label of row.labels) {
      const isMistake = steps.includes(label.interaction)
      const isNeighbour = steps.includes(label.interaction - 1) || steps.includes(label.interaction + 1)
      if (!isMistake && !isNeighbour) continue
      for (let checkpoint = label.interaction + 2; checkpoint < row.interactionCount; checkpoint++)
        counter.add(isMistake ? 'more' : 'less', {
          ready: labelAt(label, checkpoint),
          age: checkpoint - label.interaction,
        })
    }
    return steps.length
  })
}

/** Tools of tau-bench (airline and retail) that change the database. */
const WRITE_CALL =
  /^(?:book_reservation|cancel_reservation|update_reservation_\w+|send_certificate|cancel_pending_order|exchange_delivered_order_items|modify_\w+|return_delivered_order_items)$/

/** What was looked up before a write, at checkpoints after the last write (`more`) against those that have one to come. */
export function writeAgreement(labelled: readonly LabelledRun[]): readonly WeakAgreement[] {
  return bySource(
    labelled.filter(({ trajectory }) => trajectory.domain === 'tau-bench'),
    ({ trajectory, row }, counter) => {
      const writes = trajectory.interactions.filter((interaction) =>
        interaction.toolCalls.some((call) => WRITE_CALL.test(call.name)),
      )
      const last = writes.at(-1)?.index
      if (last === undefined) return 0
      const written = new Set(writes.map((interaction) => interaction.index))
      for (const label of row.labels) {
        if (label.interaction >= last || written.has(label.interaction)) continue
        if (trajectory.interactions[label.interaction]?.toolCalls.length === 0) continue
        for (let checkpoint = label.interaction + 2; checkpoint < row.interactionCount; checkpoint++)
          counter.add(checkpoint > last ? 'more' : 'less', {
            ready: labelAt(label, checkpoint),
            age: checkpoint - label.interaction,
          })
      }
      return writes.length
    },
  )
}

interface Counter {
  add(side: 'more' | 'less', pair: { readonly ready: number; readonly age: number }): void
}

/** @param count adds the pairs of one run and returns its marks */
function bySource(
  labelled: readonly LabelledRun[],
  count: (run: LabelledRun, counter: Counter) => number,
): readonly WeakAgreement[] {
  const names = [...new Set(labelled.map(({ trajectory }) => trajectory.domain))].sort()
  return names.flatMap((source) => {
    const own = labelled.filter(({ trajectory }) => trajectory.domain === source)
    const sides = { more: { pairs: 0, ready: 0, expected: 0 }, less: { pairs: 0, ready: 0, expected: 0 } }
    const expectedAt = ageCurve(own)
    const counter: Counter = {
      add(side, { ready, age }) {
        sides[side].pairs++
        sides[side].ready += ready
        sides[side].expected += expectedAt(age)
      },
    }
    const marks = own.map((run) => count(run, counter))
    const total = marks.reduce((sum, value) => sum + value, 0)
    if (total === 0) return []
    return [{ source, marks: total, runs: marks.filter((value) => value > 0).length, ...sides }]
  })
}

/** READY share of a source by age. */
function ageCurve(labelled: readonly LabelledRun[]): (age: number) => number {
  const counts = AGE_BUCKETS.map(() => ({ pairs: 0, ready: 0 }))
  const bucketOf = (age: number): number => AGE_BUCKETS.findIndex(([start, end]) => age >= start && age < end)
  for (const { row } of labelled) {
    for (const label of row.labels) {
      for (let checkpoint = label.interaction + 2; checkpoint < row.interactionCount; checkpoint++) {
        const count = counts[bucketOf(checkpoint - label.interaction)]
        if (count === undefined) continue
        count.pairs++
        count.ready += labelAt(label, checkpoint)
      }
    }
  }
  const shares = counts.map(prevalence)
  return (age) => shares[bucketOf(age)] ?? 0
}
