/**
 * What is read of a chat completion, whole or as stream chunks. Servers add and leave out fields: only a body without any
 * of these shapes is malformed.
 */
import { z } from 'zod'
import type { ChatUsage } from './port.ts'

const count = z.number().int().nonnegative().catch(0)

const usage = z
  .object({
    prompt_tokens: z.number().int().nonnegative(),
    completion_tokens: z.number().int().nonnegative(),
    prompt_tokens_details: z.object({ cached_tokens: count }).nullish().catch(null),
  })
  .nullish()
  .catch(null)

/** A string, or the text parts of a list: some gateways answer with parts. */
const content = z
  .union([z.string(), z.array(z.object({ text: z.string() }).catch({ text: '' }))])
  .nullish()
  .catch(null)

const message = z.object({
  content,
  refusal: z.string().nullish().catch(null),
  tool_calls: z
    .array(z.object({ function: z.object({ name: z.string().nullish() }).nullish() }))
    .nullish()
    .catch(null),
  function_call: z.object({ name: z.string().nullish() }).nullish().catch(null),
})

const finish = z.string().nullish().catch(null)

const whole = z.object({ choices: z.array(z.object({ message, finish_reason: finish })).min(1), usage })

const chunk = z.object({
  choices: z.array(z.object({ delta: message.partial().nullish(), finish_reason: finish })).catch([]),
  usage,
})

const failure = z.object({
  error: z.union([
    z.string(),
    z.object({
      message: z.string().nullish().catch(null),
      code: z.union([z.string(), z.number()]).nullish().catch(null),
      type: z.string().nullish().catch(null),
    }),
  ]),
})

const otherFailure = z.union([z.object({ message: z.string() }), z.object({ detail: z.string() })])

/** What one body or one chunk says; absent things are empty. */
export interface CompletionPart {
  readonly text: string
  readonly refusal: string
  readonly toolNames: readonly string[]
  readonly finish: string | null
  readonly usage: ChatUsage | null
}

/** A non-streamed body; null if it is no chat completion. */
export function parseCompletion(value: unknown): CompletionPart | null {
  const parsed = whole.safeParse(value)
  if (!parsed.success) return null
  const choice = parsed.data.choices[0]
  return partOf(choice?.message, choice?.finish_reason, parsed.data.usage)
}

/** One event of a stream; null if it is no chunk. */
export function parseChunk(value: unknown): CompletionPart | null {
  const parsed = chunk.safeParse(value)
  if (!parsed.success) return null
  const choice = parsed.data.choices[0]
  return partOf(choice?.delta ?? undefined, choice?.finish_reason, parsed.data.usage)
}

/** The words of an event that ends a stream with an error, with its code; null if it is none. */
export function parseErrorEvent(value: unknown): string | null {
  const parsed = failure.safeParse(value)
  if (!parsed.success) return null
  const { error } = parsed.data
  if (typeof error === 'string') return error
  const code = error.code ?? error.type ?? null
  return [error.message ?? '', code === null ? '' : `(${code})`].filter((part) => part !== '').join(' ')
}

/** The words of an error body in any of the usual shapes; null if it is none. */
export function parseFailure(value: unknown): string | null {
  const error = parseErrorEvent(value)
  if (error !== null) return error
  const other = otherFailure.safeParse(value)
  if (!other.success) return null
  return 'message' in other.data ? other.data.message : other.data.detail
}

function partOf(
  from: Partial<z.infer<typeof message>> | undefined,
  finishReason: string | null | undefined,
  counted: z.infer<typeof usage>,
): CompletionPart {
  const names = (from?.tool_calls ?? []).map((call) => call.function?.name ?? '')
  if (from?.function_call !== undefined && from.function_call !== null) names.push(from.function_call.name ?? '')
  const text = from?.content
  return {
    text: typeof text === 'string' ? text : (text ?? []).map((part) => part.text).join(''),
    refusal: from?.refusal ?? '',
    toolNames: names,
    finish: finishReason ?? null,
    usage:
      counted === null || counted === undefined
        ? null
        : {
            promptTokens: counted.prompt_tokens,
            cachedTokens: counted.prompt_tokens_details?.cached_tokens ?? 0,
            outputTokens: counted.completion_tokens,
          },
  }
}
