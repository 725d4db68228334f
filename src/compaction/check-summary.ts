/**
 * What a summariser returned is refused when it is no summary: the history is worth more than the tokens. Pure.
 */

/** Markup of tool calls as models emit it in text, and of our own summaries, which never nest. */
const MARKUP =
  /<\/?(?:keepready-summary|tool_use|tool_result|tool_call|tool_calls|function_call|function_calls|invoke|antml:)|<\|[a-z_]*(?:tool|python|channel)[a-z_]*\|>|\[TOOL_CALLS\]|"(?:tool_calls|tool_use_id|tool_call_id)"\s*:|"type"\s*:\s*"tool_use"/i

/** A short reply that says there is no summary. Assumption: real summaries of four interactions are longer. */
const REFUSAL =
  /\b(?:summary|content)\s+(?:is\s+)?(?:un|not\s+)available\b|\b(?:unable to|can(?:no|')t)\s+summari[sz]e\b/i
const REFUSAL_CHARS = 300

/** @returns what is wrong with the summary, or null */
export function summaryFault(summary: string): 'empty' | 'markup' | 'refusal' | null {
  if (!/[\p{L}\p{N}]/u.test(summary)) return 'empty'
  if (MARKUP.test(summary)) return 'markup'
  return summary.length <= REFUSAL_CHARS && REFUSAL.test(summary) ? 'refusal' : null
}

/** Copied text made harmless: the markup's first character is spelled out, so that it reads the same and calls nothing. */
export function neutraliseMarkup(text: string): string {
  const everywhere = new RegExp(MARKUP, 'gi')
  return text.replace(everywhere, (found) =>
    found.startsWith('<') ? `&lt;${found.slice(1)}` : found.replaceAll('"', "'").replaceAll('[', '('),
  )
}
