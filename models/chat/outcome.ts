/**
 * Completions and refusals of the server -> the closed list of outcomes. Pure.
 */
import type { ChatOutcome } from './port.ts'
import type { Completion } from './read-completion.ts'

/** Some servers hold the text of a refusal back and give the reason alone. */
export function outcomeOf(completion: Completion): ChatOutcome {
  const { text, refusal, finish } = completion
  if (refusal !== '') return { kind: 'refusal', text: refusal }
  if (finish === 'content_filter' || finish === 'refusal') return { kind: 'refusal', text }
  if (completion.calledTools && text.trim() === '') return { kind: 'tool-call', names: completion.toolNames }
  if (finish === 'length' || finish === 'max_tokens') return { kind: 'max-tokens', text }
  return { kind: 'text', text }
}

/** The words that OpenAI, Azure, Anthropic's and Google's compatible endpoints, vLLM, llama.cpp and Ollama use. */
const TOO_LONG =
  /context[_ ]length|context[_ ]size|context window|maximum context|too many (input )?tokens|prompt is too long|exceeds the (available )?context|input token count/i
const FILTERED = /content_filter|content management policy|responsible ?ai/i
const NO_CREDIT = /insufficient_quota|billing_hard_limit|insufficient (credit|balance)|exceeded your current quota/i

/** What a 4xx says about this one request; null: nothing, another dialect may be accepted. */
export function outcomeOfRefusal(status: number, message: string): ChatOutcome | null {
  if (status === 413 || TOO_LONG.test(message)) return { kind: 'too-long', message }
  if (FILTERED.test(message)) return { kind: 'refusal', text: message }
  return null
}

/** Statuses after which no request can succeed: key, address or credit are wrong. */
export function isHopeless(status: number, message: string): boolean {
  // Routers of several providers answer 404 when none of them supports a parameter.
  if (status === 404 && /response_format|parameter/i.test(message)) return false
  return [401, 402, 403, 404, 405].includes(status) || (status === 429 && NO_CREDIT.test(message))
}
