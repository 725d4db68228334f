/**
 * A summariser's reply into a summary, or why it is none: an incomplete or unusable reply never replaces history
 * (../shared/cases 19). Pure.
 */
import { summaryFault } from './check-summary.ts'

/** A reply as chat APIs give it, by the field names of any of them. */
export interface SummaryReply {
  readonly text: string
  /** stop, end_turn, length, max_tokens, tool_use, content_filter ...; null where the API tells none. */
  readonly stopReason: string | null
  /** How many tool calls it holds. */
  readonly toolCalls: number
}

export type ReplyFault = 'empty' | 'markup' | 'refusal' | 'tool-call' | 'incomplete'

const INCOMPLETE =
  /^(?:max_tokens|length|max_output_tokens|MAX_TOKENS|model_context_window_exceeded|incomplete|pause_turn)$/
const REFUSED = /^(?:refusal|content_filter|content-filter|SAFETY|PROHIBITED_CONTENT|RECITATION)$/

/** @returns the summary to apply, or what is wrong with the reply */
export function readSummaryReply(reply: SummaryReply): { readonly summary: string } | { readonly fault: ReplyFault } {
  if (reply.toolCalls > 0 || /^tool_(?:use|calls)$|^tool-calls$/.test(reply.stopReason ?? ''))
    return { fault: 'tool-call' }
  if (INCOMPLETE.test(reply.stopReason ?? '')) return { fault: 'incomplete' }
  if (REFUSED.test(reply.stopReason ?? '')) return { fault: 'refusal' }
  const fault = summaryFault(reply.text)
  return fault === null ? { summary: reply.text } : { fault }
}
