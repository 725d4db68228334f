/**
 * The value between deciding and doing: printable, storable, refusable (DESIGN section 10). Pure types.
 */
import type { HistoryMessage, Violation } from '../protocol/history.ts'

export type GateName = 'length' | 'source-tokens' | 'shrink'

/** pass iff `value` satisfies `limit`; both in the gate's unit (interactions or acting-model tokens). */
export interface GateVerdict {
  readonly name: GateName
  readonly pass: boolean
  readonly value: number
  readonly limit: number
}

/** A maximal run of adjacent READY interactions: canonical [start, end). */
export interface PlannedSpan {
  readonly start: number
  readonly end: number
  /** Acting-model tokens of the source (o200k when the model is unknown: an estimate). */
  readonly sourceTokens: number
  readonly gates: readonly GateVerdict[]
  readonly accepted: boolean
}

export interface Plan {
  /** Hash of the history the plan was made from; applying it to another is `plan-stale`. */
  readonly baseHash: string
  readonly spans: readonly PlannedSpan[]
  readonly tokens: { readonly before: number /** Predicted. */; readonly after: number }
}

export type Outcome = 'applied' | 'noop' | 'rejected' | 'failed'

/** Closed list; null only when applied. */
export type OutcomeReason =
  | 'nothing-ready'
  | 'no-span-passed'
  | 'no_gain'
  | 'input-invalid'
  | 'plan-stale'
  | 'summary-invalid'
  | 'output-invalid'
  | 'no-operating-point'
  | 'deadline'
  | 'inference-failed'
  | 'internal'

/** The result of doing: on anything but `applied`, `messages` are the input's, byte for byte. */
export interface Compaction {
  readonly outcome: Outcome
  readonly reason: OutcomeReason | null
  readonly messages: readonly HistoryMessage[]
  readonly spans: readonly PlannedSpan[]
  readonly tokens: { readonly before: number; readonly after: number }
  readonly baseHash: string
  readonly newHash: string
  /** Why the input was refused (`input-invalid`) or the result thrown away (`output-invalid`). */
  readonly violations?: readonly Violation[]
  /** Pointers into the input, of signed thinking that the edit would have made invalid and that was left out. */
  readonly strippedThinking?: readonly string[]
}
