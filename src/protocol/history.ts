/**
 * A history is the provider's own message list plus a parsed overlay (DESIGN section 5). Pure types.
 * JSON.parse loses bytes (integers above 2^53, `1.0`, key order), so every message and block keeps its raw slice and an
 * untouched one is spliced from it, never serialised again.
 */
import type { Trajectory } from '../trajectory/trajectory.ts'

export type HistoryFormat = 'openai-chat' | 'anthropic-messages'
export const HISTORY_FORMATS = ['openai-chat', 'anthropic-messages'] as const satisfies readonly HistoryFormat[]

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

export interface HistoryBlock {
  readonly raw: string
  readonly value: JsonValue
}

export interface HistoryMessage {
  /** Exact JSON text of the message as it came. */
  readonly raw: string
  readonly value: { readonly [key: string]: JsonValue }
  readonly role: string
  /** Elements of `content` when it is a list, else null. */
  readonly blocks: readonly HistoryBlock[] | null
}

export interface History {
  readonly format: HistoryFormat
  readonly messages: readonly HistoryMessage[]
  /** Raw JSON of the request's other fields that matter (`system`, `tools`), null where absent. */
  readonly system: HistoryBlock | null
  readonly tools: HistoryBlock | null
}

/** Part of a message list: a whole message (blocks absent) or the half-open range [start, end) of its blocks. */
export interface Part {
  readonly message: number
  readonly blocks?: readonly [start: number, end: number]
}

export type CallState = 'answered' | 'dead' | 'in-flight'

/** Why a piece of history may never be replaced; closed list. */
export type IneligibleReason = 'newest' | 'in-flight' | 'pinned' | 'dead-call' | 'opaque'

export interface HistoryInteraction {
  /** Canonical index; gaps stand where summaries replaced interactions. */
  readonly index: number
  readonly parts: readonly Part[]
  readonly state: CallState
  readonly ineligible: IneligibleReason | null
}

export type HistoryItem =
  | { readonly kind: 'interaction'; readonly interaction: HistoryInteraction }
  | { readonly kind: 'user-turn'; readonly parts: readonly Part[] }
  | {
      readonly kind: 'pinned'
      readonly parts: readonly Part[]
      readonly reason: 'system' | 'task' | 'opaque' | 'caller'
    }
  | {
      readonly kind: 'summary'
      readonly parts: readonly Part[]
      readonly id: string
      /** Canonical interactions [start, end) that it stands for. */
      readonly start: number
      readonly end: number
    }

/** The whole message list, partitioned: every block of every message is in exactly one item. In order of first part. */
export interface SplitHistory {
  readonly history: History
  readonly items: readonly HistoryItem[]
  readonly interactions: readonly HistoryInteraction[]
  /** The same content in canonical form: what views, evidence and the router read. */
  readonly trajectory: Trajectory
}

/** What the caller forbids to touch. */
export interface Pins {
  readonly toolNames: readonly string[]
  /** Interactions whose text contains one of these substrings. */
  readonly patterns: readonly string[]
  /** Tool-call ids. */
  readonly callIds: readonly string[]
}

export const NO_PINS: Pins = { toolNames: [], patterns: [], callIds: [] }

/** A broken provider rule, with a JSON pointer into the request, e.g. /messages/4/content/0. */
export interface Violation {
  /** Rule id of reference/protocol.md, e.g. A1, C2. */
  readonly rule: string
  readonly pointer: string
  readonly message: string
  /** Some models or hosts only, or only as the history stands now (calls in flight): no reason to refuse a compaction. */
  readonly advisory?: true
}
