/**
 * One run through both stages: records of every checkpoint, repaired once where they fail; then one verdict for each
 * interaction for which READY was proposed; then its row of labels. Everything that stays unresolved is KEEP.
 */

import type { ChatOutcome } from '../../../models/chat/port.ts'
import { checkRow } from '../check-evidence.ts'
import { LABEL_SCHEMA_VERSION, type LabelRow } from '../label-record.ts'
import { describeStageOneProblems, readStageOne, type StageOneReading } from './check-stage-one.ts'
import { proposedPoints, readStageTwo, type StageTwoReading, type TargetRecords } from './check-stage-two.ts'
import { type FailureCode, isRepairable } from './failure.ts'
import type { RunLayout } from './lay-out-run.ts'
import type { CallLimits } from './limits.ts'
import { keepLabel, verdictLabel } from './llm-label.ts'
import type { RunPlan } from './plan-run.ts'
import { buildRepair } from './repair-request.ts'
import type { StageOneRecord } from './stage-one.schema.ts'
import type { BuiltRequest } from './stage-one-request.ts'
import { buildStageOne, type StageOneCall } from './stage-one-request.ts'
import { buildStageTwo } from './stage-two-request.ts'

/** null: the budget does not allow the call. */
export type AskCall = (call: BuiltRequest) => Promise<ChatOutcome | null>

export interface RunTally {
  /** Stage-1 records asked for, and what became of them after the repair round. */
  readonly records: number
  readonly ready: number
  readonly keep: number
  readonly strayRecords: number
  readonly droppedQuotes: number
  /** Of the failed records: they say nothing, as if they had not been asked for. */
  readonly recordFailures: readonly FailureCode[]
  /** Interactions with a verdict, and those that a failed stage 2 leaves KEEP. */
  readonly verdicts: number
  readonly verdictFailures: readonly FailureCode[]
  readonly repairsAsked: number
  /** Repair rounds after which nothing was wrong any more. */
  readonly repairsDone: number
}

export interface AnnotatedRun {
  readonly row: LabelRow
  readonly tally: RunTally
}

export interface AnnotateRunOptions {
  readonly annotator: string
  readonly limits: CallLimits
  readonly ask: AskCall
}

/** @returns null when the budget stopped a call of this run: it has no row yet; what was answered is in the journal */
export async function annotateRun(plan: RunPlan, options: AnnotateRunOptions): Promise<AnnotatedRun | null> {
  const { run, layout } = plan
  const judged = layout === null ? [] : await all(plan.calls.map((call) => judge(plan, layout, { call, options })))
  if (judged === null) return null
  const recordsOf = groupByTarget(plan, judged)
  const proposed = plan.targets.filter((target) => proposedPoints(recordsOf.get(target) ?? []).length > 0)
  const settled =
    layout === null
      ? []
      : await all(
          proposed.map((target) => settle(plan, layout, { target, records: recordsOf.get(target) ?? [], options })),
        )
  if (settled === null) return null
  const verdictOf = new Map(settled.map(({ target, reading }) => [target, reading]))
  const labels = run.original.interactions.map(({ index }) => {
    const reading = verdictOf.get(index)
    const records = recordsOf.get(index) ?? []
    if (reading?.ok === true) return verdictLabel(run, index, reading.verdict)
    return keepLabel(index, { records, failed: reading?.problems[0].code ?? null, tooLong: isTooLong(plan) })
  })
  const row: LabelRow = {
    schemaVersion: LABEL_SCHEMA_VERSION,
    trajectory: run.original.id,
    annotator: options.annotator,
    interactionCount: run.original.interactions.length,
    labels,
  }
  checkRow(run.original, row)
  return { row, tally: tallyOf(plan, judged, settled) }
}

interface Judged {
  readonly call: StageOneCall
  readonly reading: StageOneReading
  readonly repair: 'none' | 'failed' | 'done'
}

async function judge(
  plan: RunPlan,
  layout: RunLayout,
  { call, options }: { readonly call: StageOneCall; readonly options: AnnotateRunOptions },
): Promise<Judged | null> {
  const asked = buildStageOne(layout, { ...call, limits: options.limits })
  const outcome = await options.ask(asked)
  if (outcome === null) return null
  const first = readStageOne(plan.run, call, outcome)
  if (first.failed.size === 0 || !isRepairable(outcome)) return { call, reading: first, repair: 'none' }
  const targets = [...first.failed.keys()].sort((a, b) => a - b)
  const repair = buildRepair(asked, {
    outcome,
    problems: describeStageOneProblems(first.failed),
    wanted: `"records" for ${targets.length === 1 ? 'target' : 'the targets'} ${targets.join(', ')}`,
    count: layout.writer.count,
  })
  const again = await options.ask(repair)
  if (again === null) return null
  const second = readStageOne(plan.run, { checkpoint: call.checkpoint, targets }, again)
  const reading: StageOneReading = {
    records: new Map([...first.records, ...second.records]),
    failed: second.failed,
    strays: first.strays + second.strays,
    droppedQuotes: first.droppedQuotes + second.droppedQuotes,
  }
  return { call, reading, repair: second.failed.size === 0 ? 'done' : 'failed' }
}

interface Settled {
  readonly target: number
  readonly reading: StageTwoReading
  readonly repair: 'none' | 'failed' | 'done'
}

async function settle(
  plan: RunPlan,
  layout: RunLayout,
  question: { readonly target: number; readonly records: TargetRecords; readonly options: AnnotateRunOptions },
): Promise<Settled | null> {
  const { target, records, options } = question
  const asked = buildStageTwo(plan.run.sent, layout, { target, records, limits: options.limits })
  const outcome = await options.ask(asked)
  if (outcome === null) return null
  const first = readStageTwo(plan.run, { target, records }, outcome)
  if (first.ok || !isRepairable(outcome)) return { target, reading: first, repair: 'none' }
  const repair = buildRepair(asked, {
    outcome,
    problems: first.problems.map((problem) => problem.message),
    wanted: 'the whole verdict',
    count: layout.writer.count,
  })
  const again = await options.ask(repair)
  if (again === null) return null
  const second = readStageTwo(plan.run, { target, records }, again)
  return { target, reading: second, repair: second.ok ? 'done' : 'failed' }
}

/** Waits for all, also after a failure, so that nothing goes on behind the caller's back. null if one is. */
async function all<T>(work: readonly Promise<T | null>[]): Promise<readonly T[] | null> {
  const ended = await Promise.allSettled(work)
  const failed = ended.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  const values = ended.flatMap((result) =>
    result.status === 'fulfilled' && result.value !== null ? [result.value] : [],
  )
  return values.length === work.length ? values : null
}

function groupByTarget(plan: RunPlan, judged: readonly Judged[]): ReadonlyMap<number, TargetRecords> {
  const grouped = new Map<number, { checkpoint: number; record: StageOneRecord | null }[]>(
    plan.targets.map((target) => [target, []]),
  )
  for (const { call, reading } of judged)
    for (const target of call.targets)
      grouped.get(target)?.push({ checkpoint: call.checkpoint, record: reading.records.get(target) ?? null })
  return grouped
}

function isTooLong(plan: RunPlan): boolean {
  return plan.layout === null && plan.checkpoints.length > 0
}

function tallyOf(plan: RunPlan, judged: readonly Judged[], settled: readonly Settled[]): RunTally {
  const records = judged.flatMap(({ reading }) => [...reading.records.values()])
  const sum = (of: (one: Judged) => number): number => judged.reduce((total, one) => total + of(one), 0)
  const repairs = [...judged, ...settled].map(({ repair }) => repair)
  return {
    records: sum(({ call }) => call.targets.length),
    ready: records.filter((record) => record.judgement === 'READY').length,
    keep: records.filter((record) => record.judgement === 'KEEP').length,
    strayRecords: sum(({ reading }) => reading.strays),
    droppedQuotes: sum(({ reading }) => reading.droppedQuotes),
    recordFailures: [
      ...judged.flatMap(({ reading }) => [...reading.failed.values()].map((problem) => problem.code)),
      ...(isTooLong(plan) ? (['too-long'] as const) : []),
    ],
    verdicts: settled.filter(({ reading }) => reading.ok).length,
    verdictFailures: settled.flatMap(({ reading }) => (reading.ok ? [] : [reading.problems[0].code])),
    repairsAsked: repairs.filter((repair) => repair !== 'none').length,
    repairsDone: repairs.filter((repair) => repair === 'done').length,
  }
}
