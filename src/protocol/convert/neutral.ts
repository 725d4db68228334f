/**
 * The provider-free form that a history passes through on its way to another format: read-neutral.ts makes it from
 * segments, each format's write.ts writes it. Pure types.
 */
import type { JsonValue } from '../history.ts'
import type { Media } from '../media.ts'

export type NeutralPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'media'; readonly media: Media }

export interface NeutralCall {
  /** Unique in the history, ^[a-zA-Z0-9_-]{1,40}$: accepted by every provider (A14, C4). */
  readonly id: string
  readonly name: string
  /** JSON text of an object; what was no JSON object stands in it as {"input": text}. */
  readonly arguments: string
}

export interface NeutralResult {
  /** Id of its call. */
  readonly id: string
  /** Name of its call. */
  readonly name: string
  readonly parts: readonly NeutralPart[]
  readonly isError: boolean
}

/**
 * In the order of the history. A `results` turn follows the `assistant` turn whose calls it answers, one result per call,
 * in the order of the calls; texts are never empty; reasoning is not carried over (signatures bind it to its provider, A12).
 */
export type NeutralTurn =
  | { readonly kind: 'system'; readonly text: string }
  | { readonly kind: 'user'; readonly parts: readonly NeutralPart[] }
  | { readonly kind: 'assistant'; readonly parts: readonly NeutralPart[]; readonly calls: readonly NeutralCall[] }
  | { readonly kind: 'results'; readonly results: readonly NeutralResult[] }

/** What a writer returns: the elements of the provider's list as JSON values, and the body's system field, if any. */
export interface WrittenHistory {
  readonly messages: readonly JsonValue[]
  readonly system: JsonValue | null
  /** What could not be said in this format, e.g. audio at a provider that takes images alone; one line each. */
  readonly losses: readonly string[]
}

/** Each format's src/protocol/<format>/write.ts exports one. */
export type HistoryWriter = (turns: readonly NeutralTurn[]) => WrittenHistory
