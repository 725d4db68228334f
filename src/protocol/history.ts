/**
 * A history is the provider's own message list plus a parsed overlay (DESIGN section 5). Pure types.
 * JSON.parse loses bytes (integers above 2^53, `1.0`, key order), so every message and block keeps its raw slice and an
 * untouched one is spliced from it, never serialised again.
 */
import type { Trajectory } from '../trajectory/trajectory.ts'

export const HISTORY_FORMATS = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini-contents',
  'ai-sdk',
] as const
export type HistoryFormat = (typeof HISTORY_FORMATS)[number]

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

export interface HistoryBlock {
  readonly raw: string
  readonly value: JsonValue
}

/**
 * Whose message it is, by the same word for every provider: `model` is assistant, `developer` is system, an item that
 * carries a result is tool. `opaque`: outside the conversation, such as a reference to an item kept by the provider.
 */
export type MessageRole = 'system' | 'user' | 'assistant' | 'tool' | 'opaque'

/** One element of the provider's list: a message, an item (Responses), a content (Gemini). */
export interface HistoryMessage {
  /** Exact JSON text of the message as it came. */
  readonly raw: string
  readonly value: { readonly [key: string]: JsonValue }
  readonly role: MessageRole
  /** Elements of its list of blocks (`content`, or `parts`), null when it has none. */
  readonly blocks: readonly HistoryBlock[] | null
}

export interface History {
  readonly format: HistoryFormat
  /** Field of the request that holds the list: pointers begin with it. */
  readonly listField: string
  readonly messages: readonly HistoryMessage[]
  /** Raw JSON of the request's other fields that matter (`system`, `tools`), null where absent. */
  readonly system: HistoryBlock | null
  readonly tools: HistoryBlock | null
  /** The request's other fields by value (model, thinking, store ...); empty for a bare list. */
  readonly request: { readonly [key: string]: JsonValue }
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
