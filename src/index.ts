/**
 * The library: histories, decisions and compaction as functions from values to values. The command line and the server
 * are built from the same ones.
 */
export { type ApplyInput, applyPlan } from './compaction/apply-plan.ts'
export type { CountTokens } from './compaction/count-history.ts'
export { summariseExtractively, summarisePlan } from './compaction/extractive-summary.ts'
export type { Compaction, GateVerdict, Outcome, OutcomeReason, Plan, PlannedSpan } from './compaction/plan.ts'
export { DEFAULT_PLAN_LIMITS, type PlanLimits, planCompaction, summaryBudget } from './compaction/plan-compaction.ts'
export { AppError, type ErrorCode, type ErrorFamily } from './errors.ts'
export { EVIDENCE_NAMES, evidenceFeatures } from './evidence/online-features.ts'
export { type Conversion, convertHistory } from './protocol/convert/convert-history.ts'
export { hashHistory } from './protocol/hash-history.ts'
export {
  HISTORY_FORMATS,
  type History,
  type HistoryFormat,
  type HistoryInteraction,
  type HistoryItem,
  type HistoryMessage,
  NO_PINS,
  type Part,
  type Pins,
  type SplitHistory,
  type Violation,
} from './protocol/history.ts'
export { parseHistory } from './protocol/parse-history.ts'
export { renderMessages } from './protocol/render-messages.ts'
export type { Change, ChangeAction } from './protocol/repair/change.ts'
export { type Repair, type RepairOptions, repairHistory } from './protocol/repair/repair-history.ts'
export { type SplitOptions, splitHistory } from './protocol/split-history.ts'
export { THINKING_BINDINGS, type ThinkingBinding } from './protocol/thinking-binding.ts'
export { truncateObservations } from './protocol/truncate-observations.ts'
export { validateHistory } from './protocol/validate-history.ts'
export { type Decision, decide, type Threshold } from './router/decide.ts'
export { findSpans } from './router/find-spans.ts'
export type { Interaction, Observation, ToolCall, Trajectory, Turn } from './trajectory/trajectory.ts'
