/**
 * The name of one call: equal for equal questions to the same model with the same prompts, whatever the run of the program.
 */
import { createHash } from 'node:crypto'
import type { ChatRequest } from '../../../models/chat/port.ts'
import { PROMPTS, PROMPTS_SHA256 } from './prompts/prompts.ts'

/**
 * SHA-256 over model, prompt version and texts, and the request as it is meant: not over the parameters that a server made
 * the client leave out, nor over the address.
 */
export function callKey(model: string, request: ChatRequest): string {
  const { messages, maxOutputTokens, temperature, answer } = request
  const parts = {
    model,
    prompts: `${PROMPTS.version}:${PROMPTS_SHA256}`,
    messages: messages.map(({ role, content }) => [role, content]),
    maxOutputTokens,
    temperature,
    answer: answer ?? null,
  }
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
