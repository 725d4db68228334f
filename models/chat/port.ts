/**
 * The seam to a chat model: one request, one answer, a closed list of outcomes. Knows no wire format; open-ai-chat.ts
 * speaks one.
 */

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[]
  /** The model stops there, whatever it was saying. */
  readonly maxOutputTokens: number
  readonly temperature: number
  /**
   * JSON Schema that the answer should follow. Servers that cannot hold a model to it are asked for JSON, or for nothing:
   * the messages must say the shape too, and the answer must be checked.
   */
  readonly answer?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }
}

/** As the server counts; cachedTokens are part of promptTokens, reasoning is part of outputTokens. */
export interface ChatUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly outputTokens: number
}

/** What became of a call. The first four are answers: asking the same again would cost and most likely say the same. */
export type ChatOutcome =
  | { readonly kind: 'text'; readonly text: string }
  /** The model or the provider's filter declines; `text` is what it says about it. */
  | { readonly kind: 'refusal'; readonly text: string }
  /** Cut at maxOutputTokens: `text` is incomplete. */
  | { readonly kind: 'max-tokens'; readonly text: string }
  /** It called tools instead of answering; none were offered. */
  | { readonly kind: 'tool-call'; readonly names: readonly string[] }
  /** The messages do not fit the model's context. */
  | { readonly kind: 'too-long'; readonly message: string }
  /** The server does not accept this request (4xx), whatever parameters are left out. */
  | { readonly kind: 'rejected'; readonly status: number; readonly message: string }
  /** No whole answer after all retries. */
  | { readonly kind: 'unanswered'; readonly reason: UnansweredReason; readonly message: string }

export type UnansweredReason = 'rate-limited' | 'server-error' | 'connection' | 'timeout' | 'cut' | 'malformed'

export interface ChatReply {
  readonly outcome: ChatOutcome
  /** Of the answer; null where the server tells none. */
  readonly usage: ChatUsage | null
  /** Further attempts after the first. */
  readonly retries: number
  /** Attempts that broke off after the answer had begun: providers bill them. */
  readonly lost: readonly LostAttempt[]
}

export interface LostAttempt {
  /** UTF-16 code units of answer text that had arrived. */
  readonly chars: number
}

export interface ChatModel {
  /** As the server names it. */
  readonly model: string
  /** URL that requests go to, for messages: no credentials. */
  readonly endpoint: string
  /**
   * @throws endpoint-refused when no request can succeed (key, model or address is wrong, no credit, a redirect);
   *   interrupted when the signal is aborted
   */
  ask(request: ChatRequest, signal?: AbortSignal): Promise<ChatReply>
}

/** The model's own answers, good or bad: worth keeping, not worth asking again. */
export type ChatAnswer = Extract<ChatOutcome, { kind: 'text' | 'refusal' | 'max-tokens' | 'tool-call' }>

export function isAnswer(outcome: ChatOutcome): outcome is ChatAnswer {
  return ['text', 'refusal', 'max-tokens', 'tool-call'].includes(outcome.kind)
}
