/**
 * The side report of an annotation: what was asked, what failed and became KEEP, what it cost, and how far the labels agree
 * with the rule (`lineage`) on the same runs. Pure.
 */
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { type LabelAgreement, labelAgreement } from '../label-agreement.ts'
import { annotateLineage } from '../lineage.ts'
import type { LlmResult } from './annotate-llm.ts'
import type { CallCounters } from './asker.ts'
import { countFailures, type FailureCounts } from './failure.ts'

export interface LlmReport {
  readonly annotator: string
  readonly promptsSha256: string
  readonly endpoint: string
  readonly model: string
  readonly redacted: boolean
  readonly maxCheckpointsPerRun: number
  readonly seed: number
  readonly runs: { readonly labelled: number; readonly unfinished: readonly string[] }
  readonly calls: CallCounters
  /** US dollars, earlier runs of the journal included; null without prices. */
  readonly spentUsd: number | null
  readonly stageOne: {
    readonly records: number
    readonly ready: number
    readonly keep: number
    readonly strayRecords: number
    readonly droppedQuotes: number
    /** Records that say nothing after the repair round: unresolved, KEEP. */
    readonly failures: FailureCounts
  }
  readonly stageTwo: { readonly verdicts: number; readonly failures: FailureCounts }
  readonly repairs: { readonly asked: number; readonly done: number }
  /** A: these labels, B: lineage. null where no run was labelled. */
  readonly lineage: Omit<LabelAgreement, 'disagreements'> | null
}

export function llmReport(
  result: LlmResult,
  about: Pick<
    LlmReport,
    'annotator' | 'promptsSha256' | 'endpoint' | 'model' | 'redacted' | 'maxCheckpointsPerRun' | 'seed'
  > & { readonly trajectories: readonly Trajectory[]; readonly priced: boolean },
): LlmReport {
  const { trajectories, priced, ...settings } = about
  const { rows, tallies } = result
  const sum = (of: (tally: (typeof tallies)[number]) => number): number =>
    tallies.reduce((total, tally) => total + of(tally), 0)
  return {
    ...settings,
    runs: { labelled: rows.length, unfinished: result.unfinished },
    calls: result.counters,
    spentUsd: priced ? result.spentUsd : null,
    stageOne: {
      records: sum((tally) => tally.records),
      ready: sum((tally) => tally.ready),
      keep: sum((tally) => tally.keep),
      strayRecords: sum((tally) => tally.strayRecords),
      droppedQuotes: sum((tally) => tally.droppedQuotes),
      failures: countFailures(tallies.flatMap((tally) => tally.recordFailures)),
    },
    stageTwo: {
      verdicts: sum((tally) => tally.verdicts),
      failures: countFailures(tallies.flatMap((tally) => tally.verdictFailures)),
    },
    repairs: { asked: sum((tally) => tally.repairsAsked), done: sum((tally) => tally.repairsDone) },
    lineage: againstLineage(result, trajectories),
  }
}

function againstLineage(result: LlmResult, trajectories: readonly Trajectory[]): LlmReport['lineage'] {
  if (result.rows.length === 0) return null
  const labelled = new Set(result.rows.map((row) => row.trajectory))
  const domains = new Map(trajectories.map(({ id, domain }) => [id, domain]))
  const rule = trajectories.filter(({ id }) => labelled.has(id)).map((trajectory) => annotateLineage(trajectory))
  const { disagreements: _, ...agreement } = labelAgreement(result.rows, rule, (id) => domains.get(id) ?? '')
  return agreement
}
