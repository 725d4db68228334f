/**
 * Reads one stage-1 answer and checks every record against the run. What holds is kept; what does not is named, so that it
 * can be asked for again.
 */
import type { ChatOutcome } from '../../../models/chat/port.ts'
import { quoteProblem, quotesProblem } from './check-quote.ts'
import { type FailureCode, failureOfOutcome, type Problem } from './failure.ts'
import { findJson } from './find-json.ts'
import type { RunText } from './run-text.ts'
import { type Quote, readStageOneRecord, recordsIn, type StageOneRecord } from './stage-one.schema.ts'

export interface StageOneReading {
  /** Records that hold, by target; every quote that is left in one holds too. */
  readonly records: ReadonlyMap<number, StageOneRecord>
  /** What is wrong with each other target. */
  readonly failed: ReadonlyMap<number, Problem>
  /** Records for interactions that were not asked for. */
  readonly strays: number
  /** Quotes and vetoes of KEEP records that do not hold: left out, they change nothing there. */
  readonly droppedQuotes: number
}

export interface StageOneQuestion {
  readonly checkpoint: number
  readonly targets: readonly number[]
}

export function readStageOne(run: RunText, question: StageOneQuestion, outcome: ChatOutcome): StageOneReading {
  const { targets } = question
  const failAll = (code: FailureCode, message: string): StageOneReading => ({
    records: new Map(),
    failed: new Map(targets.map((target) => [target, { code, message }])),
    strays: 0,
    droppedQuotes: 0,
  })
  const without = failureOfOutcome(outcome)
  if (without !== null) return failAll(without, `the answer is no JSON object (${without})`)
  const text = 'text' in outcome ? outcome.text : ''
  const found = findJson(text)
  const values = found.kind === 'value' ? recordsIn(found.value) : found.kind === 'partial' ? found.items : null
  const cut = outcome.kind === 'max-tokens'
  if (values === null)
    return cut
      ? failAll('max-tokens', 'the answer was cut at its limit: write shorter fields')
      : failAll('no-json', 'the answer holds no JSON object with a list "records"')

  const records = new Map<number, StageOneRecord>()
  const failed = new Map<number, Problem>()
  let strays = 0
  let droppedQuotes = 0
  for (const value of values) {
    const read = readStageOneRecord(value)
    const target = read.ok ? read.record.interaction : read.interaction
    if (target === null || !targets.includes(target)) {
      strays += 1
      continue
    }
    const problem = read.ok
      ? recordProblem(run, question.checkpoint, read.record)
      : { code: 'wrong-shape' as const, message: read.problem }
    const earlier = records.get(target)
    if (read.ok && earlier !== undefined && earlier.judgement !== read.record.judgement)
      failed.set(target, { code: 'duplicate-record', message: 'two records contradict each other' })
    else if (problem !== null) failed.set(target, problem)
    else if (read.ok) {
      const held = withHeldQuotes(run, question.checkpoint, read.record)
      droppedQuotes += quoteCount(read.record) - quoteCount(held)
      records.set(target, held)
    }
  }
  for (const target of failed.keys()) records.delete(target)
  for (const target of targets)
    if (!records.has(target) && !failed.has(target))
      failed.set(
        target,
        cut
          ? { code: 'max-tokens', message: 'the answer was cut before this record: write shorter fields' }
          : { code: 'missing-record', message: 'there is no record for it' },
      )
  return { records, failed, strays, droppedQuotes }
}

/** READY must prove itself; KEEP needs no proof. */
function recordProblem(run: RunText, checkpoint: number, record: StageOneRecord): Problem | null {
  if (record.judgement === 'KEEP') return null
  const target = record.interaction
  if (record.evidence.length === 0) return { code: 'no-evidence', message: 'READY without evidence' }
  if (record.remainingUtility === null)
    return { code: 'wrong-shape', message: 'remaining_utility must be none, low or high' }
  if (record.remainingUtility === 'high')
    return { code: 'inconsistent', message: 'READY with remaining_utility high: decide which of the two is right' }
  const evidence = quotesProblem(run, { kind: 'uptake', target, checkpoint, quotes: record.evidence })
  if (evidence !== null || record.futureDependency === null) return evidence
  return quoteProblem(run, { kind: 'veto', target, checkpoint, quote: record.futureDependency })
}

/** Stage 2 reads the record: nothing false may stand in it. */
function withHeldQuotes(run: RunText, checkpoint: number, record: StageOneRecord): StageOneRecord {
  const holds = (kind: 'uptake' | 'veto', quote: Quote): boolean =>
    quoteProblem(run, { kind, target: record.interaction, checkpoint, quote }) === null
  const { futureDependency } = record
  return {
    ...record,
    evidence: record.evidence.filter((quote) => holds('uptake', quote)),
    futureDependency: futureDependency !== null && holds('veto', futureDependency) ? futureDependency : null,
  }
}

function quoteCount(record: StageOneRecord): number {
  return record.evidence.length + (record.futureDependency === null ? 0 : 1)
}

/** One line per target for the repair round. */
export function describeStageOneProblems(failed: ReadonlyMap<number, Problem>): readonly string[] {
  const messages = new Set([...failed.values()].map((problem) => problem.message))
  if (messages.size === 1 && failed.size > 1) return [`all of them: ${[...messages][0]}`]
  return [...failed].map(([target, problem]) => `target ${target}: ${problem.message}`)
}
