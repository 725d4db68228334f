/**
 * Reads one stage-2 answer and checks it against the run and the stage-1 records: the boundary must be a proposed and
 * re-checked point, behind every veto that holds, with literal evidence before it, and nothing later may contradict it.
 */
import type { ChatOutcome } from '../../../models/chat/port.ts'
import { quoteProblem, quotesProblem } from './check-quote.ts'
import { failureOfOutcome, type Problem } from './failure.ts'
import { findJson } from './find-json.ts'
import type { RunText } from './run-text.ts'
import type { Quote, StageOneRecord } from './stage-one.schema.ts'
import { readStageTwoVerdict, type StageTwoVerdict } from './stage-two.schema.ts'

/** What stage 1 said of one target, in the order of checkpoints; null: no valid record. */
export type TargetRecords = readonly { readonly checkpoint: number; readonly record: StageOneRecord | null }[]

export interface Verdict {
  readonly boundary: number | null
  readonly evidence: readonly Quote[]
  /** Those that hold, of both stages: j ascending. */
  readonly vetoes: readonly Quote[]
  readonly reason: string
}

export type StageTwoReading =
  | { readonly ok: true; readonly verdict: Verdict }
  | { readonly ok: false; readonly problems: readonly [Problem, ...Problem[]] }

export interface StageTwoQuestion {
  readonly target: number
  readonly records: TargetRecords
}

/** Checkpoints at which READY was proposed. */
export function proposedPoints(records: TargetRecords): readonly number[] {
  return records.flatMap(({ checkpoint, record }) => (record?.judgement === 'READY' ? [checkpoint] : []))
}

export function readStageTwo(run: RunText, question: StageTwoQuestion, outcome: ChatOutcome): StageTwoReading {
  const without = failureOfOutcome(outcome)
  if (without !== null) return failed({ code: without, message: `the answer is no JSON object (${without})` })
  const found = findJson('text' in outcome ? outcome.text : '')
  if (found.kind !== 'value')
    return outcome.kind === 'max-tokens'
      ? failed({ code: 'max-tokens', message: 'the answer was cut at its limit: write less' })
      : failed({ code: 'no-json', message: 'the answer holds no JSON object' })
  const read = readStageTwoVerdict(found.value)
  if (!read.ok) return failed({ code: 'wrong-shape', message: read.problem })
  const vetoes = vetoesThatHold(run, question, read.verdict)
  const { boundary, evidence, reason } = read.verdict
  const [first, ...more] = verdictProblems(run, question, { verdict: read.verdict, vetoes })
  if (first !== undefined) return { ok: false, problems: [first, ...more] }
  return { ok: true, verdict: { boundary, evidence: boundary === null ? [] : evidence, vetoes, reason } }
}

function failed(problem: Problem): StageTwoReading {
  return { ok: false, problems: [problem] }
}

function verdictProblems(
  run: RunText,
  { target, records }: StageTwoQuestion,
  { verdict, vetoes }: { readonly verdict: StageTwoVerdict; readonly vetoes: readonly Quote[] },
): readonly Problem[] {
  const { boundary } = verdict
  if (boundary === null) return []
  const problems: Problem[] = []
  if (!proposedPoints(records).includes(boundary))
    problems.push({
      code: 'boundary-not-proposed',
      message: `boundary ${boundary}: READY was proposed at ${proposedPoints(records).join(', ')} only`,
    })
  const recheck = verdict.rechecks.find(({ checkpoint }) => checkpoint === boundary)
  if (recheck?.supported !== true)
    problems.push({
      code: 'boundary-not-rechecked',
      message: `boundary ${boundary}: rechecks must hold it as supported`,
    })
  if (verdict.evidence.length === 0)
    problems.push({ code: 'no-evidence', message: `boundary ${boundary} without evidence` })
  const quotes = [
    quotesProblem(run, { kind: 'uptake', target, checkpoint: boundary, quotes: verdict.evidence }),
    // A veto is good against every checkpoint up to its interaction: where it stands does not matter here.
    quotesProblem(run, { kind: 'veto', target, checkpoint: target + 1, quotes: verdict.vetoes }),
  ]
  problems.push(...quotes.filter((problem) => problem !== null))
  const last = vetoes.at(-1)
  if (last !== undefined && last.interaction >= boundary)
    problems.push({
      code: 'boundary-vetoed',
      message: `boundary ${boundary}: the veto of interaction ${last.interaction} holds; choose a later one, null, or dismiss it with a reason`,
    })
  const against = laterKeeps(records, verdict)
  if (against.length > 0)
    problems.push({
      code: 'not-monotonic',
      message: `boundary ${boundary}: KEEP at ${against.join(', ')} contradicts it; choose a later boundary, null, or overrule with a reason`,
    })
  return problems
}

/** Of both stages, sorted by interaction; a stage-1 veto is gone only if it was dismissed with a reason. */
function vetoesThatHold(
  run: RunText,
  { target, records }: StageTwoQuestion,
  verdict: StageTwoVerdict,
): readonly Quote[] {
  const dismissed = new Set(
    verdict.dismissed.flatMap(({ interaction, reason }) => (reason.trim() === '' ? [] : [interaction])),
  )
  const earlier = records.flatMap(({ record }) => {
    const veto = record?.futureDependency ?? null
    return veto === null || dismissed.has(veto.interaction) ? [] : [veto]
  })
  const own = verdict.vetoes.filter(
    (quote) => quoteProblem(run, { kind: 'veto', target, checkpoint: target + 1, quote }) === null,
  )
  return [...earlier, ...own].sort((a, b) => a.interaction - b.interaction)
}

/** Checkpoints after the boundary that are KEEP for stage 1 or failed their re-check, and were not overruled. */
function laterKeeps(records: TargetRecords, verdict: StageTwoVerdict): readonly number[] {
  const boundary = verdict.boundary ?? Number.POSITIVE_INFINITY
  const overruled = new Set(
    verdict.overruled.flatMap(({ checkpoint, reason }) => (reason.trim() === '' ? [] : [checkpoint])),
  )
  const dismissed = new Set(verdict.dismissed.map(({ interaction }) => interaction))
  const keeps = records.flatMap(({ checkpoint, record }) => {
    if (checkpoint <= boundary || record?.judgement !== 'KEEP' || overruled.has(checkpoint)) return []
    const veto = record.futureDependency
    return veto !== null && dismissed.has(veto.interaction) ? [] : [checkpoint]
  })
  const unsupported = verdict.rechecks.flatMap(({ checkpoint, supported }) =>
    checkpoint > boundary && !supported ? [checkpoint] : [],
  )
  return [...new Set([...keeps, ...unsupported])].sort((a, b) => a - b)
}
