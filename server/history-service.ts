/**
 * What can be asked about one history: score, plan, compact, validate. Knows nothing of HTTP; the CLI calls it too.
 */
import { type ActingEncoding, actingTokenizer } from '../models/tokenizer/acting-tokens.ts'
import { applyPlan } from '../src/compaction/apply-plan.ts'
import { buildTokenTable, type CountTokens } from '../src/compaction/count-history.ts'
import { summarisePlan } from '../src/compaction/extractive-summary.ts'
import type { Compaction, Plan } from '../src/compaction/plan.ts'
import { DEFAULT_PLAN_LIMITS, planCompaction } from '../src/compaction/plan-compaction.ts'
import { type AppError, type ErrorCode, toAppError } from '../src/errors.ts'
import { hashHistory } from '../src/protocol/hash-history.ts'
import type { History, HistoryFormat, HistoryInteraction, SplitHistory, Violation } from '../src/protocol/history.ts'
import { parseHistory } from '../src/protocol/parse-history.ts'
import type { Change } from '../src/protocol/repair/change.ts'
import { type Repair, repairHistory } from '../src/protocol/repair/repair-history.ts'
import { requireCompleteInteraction } from '../src/protocol/require-complete-interaction.ts'
import { splitHistory } from '../src/protocol/split-history.ts'
import { blockingViolations, validateHistory } from '../src/protocol/validate-history.ts'
import { type Decision, decide } from '../src/router/decide.ts'
import type { OperatingPointName } from '../src/router/operating-points.ts'
import { endCheckpoint } from '../src/trajectory/trajectory.ts'
import type { ReadinessModel } from './readiness-model.ts'
import { rememberCounts } from './remember-counts.ts'
import { refuseUnknownLabels, repairRequest } from './repair-request.ts'
import type { StageClock } from './stage-clock.ts'
import type { PlanRequest, RepairRequest, ScoreRequest } from './wire/requests.schema.ts'

export interface ScoredInteraction {
  readonly interaction: HistoryInteraction
  /** Null: not a target, so not scored; so is the decision. */
  readonly logit: number | null
  readonly decision: Decision | null
  readonly ready: boolean
  readonly sourceTokens: number
}

export interface HistoryScore {
  readonly split: SplitHistory
  readonly baseHash: string
  readonly checkpoint: number
  readonly operatingPoint: OperatingPointName
  readonly tau: number | null
  readonly interactions: readonly ScoredInteraction[]
  readonly warnings: readonly string[]
}

export interface HistoryPlan {
  readonly plan: Plan
  readonly split: SplitHistory
  readonly operatingPoint: OperatingPointName
  readonly tau: number | null
  /** What was repaired first, where the caller asked for it; the plan is about the repaired history. */
  readonly changes: readonly Change[]
  /** Whose tokens the counts are. */
  readonly encoding: ActingEncoding
  readonly warnings: readonly string[]
}

export interface HistoryCompaction {
  /** Of the repaired history, where something was repaired. */
  readonly compaction: Compaction
  readonly changes: readonly Change[]
  /** Field of the request that held the list; the provider's own for a bare list. */
  readonly listField: string
  /** Whose tokens the counts are. */
  readonly encoding: ActingEncoding
  readonly warnings: readonly string[]
}

export interface HistoryRepair {
  /** Of the history as it was given. */
  readonly violations: readonly Violation[]
  readonly repair: Repair
}

/** What one call may use: its cancellation and its stopwatch. */
export interface CallContext {
  readonly signal: AbortSignal
  readonly clock: StageClock
}

export interface HistoryService {
  /** @throws history-malformed, history-incomplete, and what the readiness model throws */
  score(text: string, request: ScoreRequest, context: CallContext): Promise<HistoryScore>
  /** Dry run. @throws like score */
  plan(text: string, request: PlanRequest, context: CallContext): Promise<HistoryPlan>
  /**
   * After the history was parsed a failure is an outcome, with the history unchanged; only refusals are thrown.
   * @throws history-malformed, request-invalid, queue-full, server-draining, interrupted
   */
  compact(text: string, request: PlanRequest, context: CallContext): Promise<HistoryCompaction>
  /** @throws history-malformed */
  validate(text: string, format: HistoryFormat): readonly Violation[]
  /** @throws history-malformed */
  repair(text: string, request: RepairRequest): HistoryRepair
}

/** The caller is asked to do something else, or is gone: no outcome of a compaction. */
const REFUSALS: readonly ErrorCode[] = ['request-invalid', 'queue-full', 'server-draining', 'interrupted']

const OUTCOME_OF_ERROR: Readonly<Partial<Record<ErrorCode, readonly [Compaction['outcome'], Compaction['reason']]>>> = {
  'deadline-exceeded': ['noop', 'deadline'],
  'history-incomplete': ['noop', 'nothing-ready'],
}

export function createHistoryService(model: ReadinessModel): HistoryService {
  const scoreHistory = async (call: Call<ScoreRequest>): Promise<HistoryScore> => {
    const { history, request, context, countTokens } = call
    const split = context.clock.time('parse', () => splitHistory(history, { pins: request.pins }))
    requireCompleteInteraction(split)
    const checkpoint = endCheckpoint(split.trajectory)
    const operatingPoint = request.operatingPoint ?? model.defaultOperatingPoint
    const point = model.operatingPoints.points[operatingPoint]
    const scores = await model.score({ trajectory: split.trajectory, checkpoint, ...context })
    const logitByIndex = new Map(scores.interactions.map((index, row) => [index, scores.logits[row] ?? Number.NaN]))
    const table = context.clock.time('count', () => buildTokenTable(history, countTokens))
    const interactions = split.interactions.map((interaction): ScoredInteraction => {
      const logit = logitByIndex.get(interaction.index) ?? null
      const decision = logit === null ? null : decide(logit, point)
      const ready = interaction.ineligible === null && decision?.ready === true
      return { interaction, logit, decision, ready, sourceTokens: table.ofParts(interaction.parts) }
    })
    return {
      split,
      baseHash: hashHistory(history),
      checkpoint,
      operatingPoint,
      tau: point.tau,
      interactions,
      warnings:
        point.reason === null ? [] : [`operating point ${operatingPoint} never predicts READY: ${point.reason}`],
    }
  }

  const planHistory = async (call: PlanCall): Promise<HistoryPlan> => {
    const { request, context, countTokens } = call
    if (request.labelledReady !== null) return planFromLabels(call, request.labelledReady, model)
    const { split, interactions, operatingPoint, tau, warnings } = await scoreHistory(call)
    const ready = new Set(interactions.filter((item) => item.ready).map((item) => item.interaction.index))
    const plan = context.clock.time('plan', () =>
      planCompaction({
        split,
        ready,
        limits: {
          ...DEFAULT_PLAN_LIMITS,
          ...(request.minSpanInteractions === null ? {} : { minSpanInteractions: request.minSpanInteractions }),
          ...(request.minSourceTokens === null ? {} : { minSourceTokens: request.minSourceTokens }),
        },
        countTokens,
      }),
    )
    return { plan, split, operatingPoint, tau, changes: call.changes, encoding: call.encoding, warnings }
  }

  return {
    async score(text, request, context) {
      return scoreHistory(openCall(text, request, context))
    },
    async plan(text, request, context) {
      return planHistory(openPlan(text, request, context))
    },
    async compact(text, request, context) {
      const call = openPlan(text, request, context)
      const { changes, encoding } = call
      const { listField } = call.history
      const violations = context.clock.time('parse', () => validateHistory(call.history))
      if (blockingViolations(violations).length > 0) {
        return {
          compaction: unchanged(call, { outcome: 'rejected', reason: 'input-invalid', violations }),
          changes,
          listField,
          encoding,
          warnings: [],
        }
      }
      try {
        const planned = await planHistory(call)
        context.signal.throwIfAborted()
        const compaction = context.clock.time('summarise', () => applyWithExtracts(call, planned))
        const neverReady =
          compaction.reason === 'nothing-ready' && planned.tau === null && request.labelledReady === null
        return {
          compaction: neverReady ? { ...compaction, reason: 'no-operating-point' } : compaction,
          changes,
          listField,
          encoding,
          warnings: planned.warnings,
        }
      } catch (thrown) {
        const error = toAppError(thrown)
        if (REFUSALS.includes(error.code)) throw error
        const [outcome, reason] = OUTCOME_OF_ERROR[error.code] ?? [
          'failed',
          error.family === 'inference' ? ('inference-failed' as const) : ('internal' as const),
        ]
        context.clock.note(error)
        return {
          compaction: unchanged(call, { outcome, reason, violations: [] }),
          changes,
          listField,
          encoding,
          warnings: [warningOf(error)],
        }
      }
    },
    validate: (text, format) => validateHistory(parseHistory(text, format)),
    repair(text, { format, danglingCalls, thinkingBinding }) {
      const history = parseHistory(text, format)
      return {
        violations: validateHistory(history),
        repair: repairHistory(history, { danglingCalls, thinkingBinding }),
      }
    },
  }
}

/** One history and everything that is asked about it. */
interface Call<Request> {
  readonly history: History
  readonly request: Request
  readonly context: CallContext
  readonly countTokens: CountTokens
  readonly encoding: ActingEncoding
}

function openCall<Request extends ScoreRequest>(text: string, request: Request, context: CallContext): Call<Request> {
  const history = context.clock.time('parse', () => parseHistory(text, request.format))
  const { model } = history.request
  const { countTokens, encoding } = actingTokenizer(typeof model === 'string' ? model : null)
  return { history, request, context, countTokens: rememberCounts(countTokens), encoding }
}

interface PlanCall extends Call<PlanRequest> {
  readonly changes: readonly Change[]
}

/** Repaired first, where the caller asks for it. */
function openPlan(text: string, request: PlanRequest, context: CallContext): PlanCall {
  const call = openCall(text, request, context)
  return { ...call, ...context.clock.time('parse', () => repairRequest(call.history, request)) }
}

/** The message of a bug may quote values that a client must not see. */
function warningOf(error: AppError): string {
  return error.family === 'invariant' ? "internal error: see the server's log" : error.message
}

/** A caller's own labels bypass tau, kappa and B_min, never shrink and validity (DESIGN section 10). */
function planFromLabels(
  { history, request, countTokens, changes, encoding }: PlanCall,
  ready: ReadonlySet<number>,
  model: ReadinessModel,
): HistoryPlan {
  const split = splitHistory(history, { pins: request.pins })
  refuseUnknownLabels(split, ready)
  const plan = planCompaction({
    split,
    ready,
    limits: { ...DEFAULT_PLAN_LIMITS, minSpanInteractions: 0, minSourceTokens: 0 },
    countTokens,
  })
  const operatingPoint = request.operatingPoint ?? model.defaultOperatingPoint
  return { plan, split, operatingPoint, tau: null, changes, encoding, warnings: [] }
}

/** Each accepted span gets the deterministic offline summary, shorter than its source or refused by applyPlan. */
function applyWithExtracts({ countTokens, request }: PlanCall, { split, plan }: HistoryPlan): Compaction {
  const summaries = summarisePlan({ split, plan, countTokens })
  return applyPlan({ split, plan, summaries, countTokens, thinkingBinding: request.thinkingBinding })
}

type Verdict = Pick<Compaction, 'outcome' | 'reason' | 'violations'>

function unchanged({ history, countTokens }: Call<PlanRequest>, verdict: Verdict): Compaction {
  const total = buildTokenTable(history, countTokens).total
  const hash = hashHistory(history)
  return {
    ...verdict,
    messages: history.messages,
    spans: [],
    tokens: { before: total, after: total },
    baseHash: hash,
    newHash: hash,
  }
}
