/**
 * Which request parameters a server understands. OpenAI-compatible servers differ in what they refuse, and say so in their
 * own words: a refusal leads to the next, plainer dialect, which is remembered once it works. Pure.
 */
import type { ChatRequest } from './port.ts'

export interface Dialect {
  /** How the answer is held to JSON. */
  readonly answer: 'json_schema' | 'json_object' | 'text'
  /** Reasoning models of OpenAI refuse the old name, old servers do not know the new one. */
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens'
  /** Some models allow their default alone. */
  readonly temperature: boolean
  /** Ask for usage at the end of a stream. */
  readonly streamUsage: boolean
}

export const FIRST_DIALECT: Dialect = {
  answer: 'json_schema',
  maxTokens: 'max_tokens',
  temperature: true,
  streamUsage: true,
}

const PLAINER_ANSWER = { json_schema: 'json_object', json_object: 'text', text: 'text' } as const

/**
 * The next dialect to try after a server refused a request: without the parameter that its message names, else with a
 * plainer answer format (many messages name nothing).
 *   returns  null when there is nothing left to leave out
 */
export function plainerDialect(
  dialect: Dialect,
  refused: { readonly message: string; readonly wantsJson: boolean; readonly stream: boolean },
): Dialect | null {
  const { message } = refused
  if (dialect.maxTokens === 'max_tokens' && message.includes('max_completion_tokens'))
    return { ...dialect, maxTokens: 'max_completion_tokens' }
  if (dialect.temperature && /\btemperature\b/.test(message)) return { ...dialect, temperature: false }
  if (refused.stream && dialect.streamUsage && /stream_options|include_usage/.test(message))
    return { ...dialect, streamUsage: false }
  if (refused.wantsJson && dialect.answer !== 'text') return { ...dialect, answer: PLAINER_ANSWER[dialect.answer] }
  return null
}

/** The JSON body of one request. Key order is fixed: equal requests give equal bytes. */
export function requestBody(
  request: ChatRequest,
  options: { readonly model: string; readonly stream: boolean; readonly dialect: Dialect },
): Readonly<Record<string, unknown>> {
  const { model, stream, dialect } = options
  return {
    model,
    messages: request.messages.map(({ role, content }) => ({ role, content })),
    [dialect.maxTokens]: request.maxOutputTokens,
    ...(dialect.temperature ? { temperature: request.temperature } : {}),
    ...(request.answer === undefined ? {} : responseFormat(request.answer, dialect)),
    ...(stream ? { stream: true, ...(dialect.streamUsage ? { stream_options: { include_usage: true } } : {}) } : {}),
  }
}

function responseFormat(
  answer: NonNullable<ChatRequest['answer']>,
  dialect: Dialect,
): Readonly<Record<string, unknown>> {
  if (dialect.answer === 'text') return {}
  if (dialect.answer === 'json_object') return { response_format: { type: 'json_object' } }
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: answer.name, strict: true, schema: answer.schema },
    },
  }
}
