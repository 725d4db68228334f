/**
 * Reads the body of a 200 response, whole or streamed, into one completion. Every way in which it can be broken is a value.
 */
import { type CompletionPart, parseChunk, parseCompletion, parseErrorEvent, parseFailure } from './completion.schema.ts'
import { readEventStream } from './event-stream.ts'
import type { ChatUsage } from './port.ts'

export interface Completion {
  readonly text: string
  readonly refusal: string
  readonly calledTools: boolean
  readonly toolNames: readonly string[]
  /** finish_reason; null if none came. */
  readonly finish: string | null
  readonly usage: ChatUsage | null
}

export type ReadCompletion =
  | { readonly kind: 'completion'; readonly completion: Completion }
  /** `chars` of answer text had arrived. `failed`: the server said so in the stream; `cut`: it just ended. */
  | {
      readonly kind: 'broken'
      readonly how: 'failed' | 'cut' | 'malformed'
      readonly chars: number
      readonly message: string
    }

/** @param chunks of the body; what they throw passes through, with `progress.chars` saying how much text had come */
export async function readStreamedCompletion(
  chunks: AsyncIterable<Uint8Array>,
  progress: { chars: number },
): Promise<ReadCompletion> {
  const parts: CompletionPart[] = []
  let done = false
  for await (const data of readEventStream(chunks)) {
    if (data.trim() === '[DONE]') {
      done = true
      break
    }
    const value = parseJson(data)
    const part = value === undefined ? null : parseChunk(value)
    const failure = value === undefined ? null : parseErrorEvent(value)
    if (failure !== null) return { kind: 'broken', how: 'failed', chars: progress.chars, message: failure }
    if (part === null)
      return { kind: 'broken', how: 'malformed', chars: progress.chars, message: 'a stream event is no JSON chunk' }
    progress.chars += part.text.length
    parts.push(part)
  }
  const completion = join(parts)
  if (!done && completion.finish === null)
    return { kind: 'broken', how: 'cut', chars: progress.chars, message: 'the stream ended before the answer did' }
  return { kind: 'completion', completion }
}

export async function readWholeCompletion(chunks: AsyncIterable<Uint8Array>): Promise<ReadCompletion> {
  const value = parseJson(await readText(chunks))
  const part = value === undefined ? null : parseCompletion(value)
  if (part !== null) return { kind: 'completion', completion: join([part]) }
  const failure = value === undefined ? null : parseFailure(value)
  if (failure !== null) return { kind: 'broken', how: 'failed', chars: 0, message: failure }
  return { kind: 'broken', how: 'malformed', chars: 0, message: 'the body is no chat completion' }
}

export async function readText(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}

/** undefined: no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

function join(parts: readonly CompletionPart[]): Completion {
  const finish = parts.findLast((part) => part.finish !== null)?.finish ?? null
  const names = parts.flatMap((part) => part.toolNames)
  return {
    text: parts.map((part) => part.text).join(''),
    refusal: parts.map((part) => part.refusal).join(''),
    calledTools: names.length > 0 || finish === 'tool_calls' || finish === 'function_call',
    toolNames: [...new Set(names.filter((name) => name !== ''))],
    finish,
    usage: parts.findLast((part) => part.usage !== null)?.usage ?? null,
  }
}
