/**
 * A named provider rule (reference/protocol.md): one sentence, one check, and the smallest example on either side, which
 * are its tests. Pure.
 */
import type { History, HistoryFormat } from '../history.ts'
import type { Segment } from '../segment.ts'

/** Neighbouring messages of one role, which Anthropic combines into one turn (A6). */
export interface RoleTurn {
  readonly role: string
  /** In order, over all its messages. */
  readonly segments: readonly Segment[]
}

export interface RuleInput {
  readonly history: History
  /** Per message. */
  readonly segments: readonly (readonly Segment[])[]
  /** Without system messages, which stand outside the turns. */
  readonly turns: readonly RoleTurn[]
  /** Pointers of calls that are in flight: unanswered, in the newest batch, with nothing but results after it. */
  readonly inFlight: ReadonlySet<string>
  /** Pointers of the calls that have a result, and of the results that are theirs: second results are not. */
  readonly paired: ReadonlySet<string>
}

export interface Finding {
  readonly pointer: string
  readonly message: string
  /**
   * Rejected by some models or hosts only, or only as the history stands now (calls in flight, assistant last): reported,
   * but no reason to refuse a compaction.
   */
  readonly advisory?: true
}

export interface Rule {
  /** As in reference/protocol.md. */
  readonly id: string
  readonly format: HistoryFormat
  readonly sentence: string
  readonly check: (input: RuleInput) => readonly Finding[]
  /** JSON texts: the first breaks this rule and no other, the second breaks none. */
  readonly examples: { readonly violating: string; readonly valid: string }
}

/** Marks a finding advisory when the condition holds. */
export function advisoryIf(condition: boolean, finding: Finding): Finding {
  return condition ? { ...finding, advisory: true } : finding
}

export function quote(text: string | null): string {
  return text === null ? 'none' : JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text)
}
