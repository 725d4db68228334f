/**
 * The one repair round: the same conversation, the answer, and what was wrong with it. Pure.
 */
import type { ChatOutcome } from '../../../models/chat/port.ts'
import type { CountTokens } from './clip-text.ts'
import { PROMPTS } from './prompts/prompts.ts'
import type { BuiltRequest } from './stage-one-request.ts'

/** Servers refuse an empty turn of the assistant. */
const NO_TEXT = '(no text)'

export function buildRepair(
  asked: BuiltRequest,
  repair: {
    readonly outcome: ChatOutcome
    readonly problems: readonly string[]
    /** What to answer again. */
    readonly wanted: string
    readonly count: CountTokens
  },
): BuiltRequest {
  const said = 'text' in repair.outcome && repair.outcome.text.trim() !== '' ? repair.outcome.text : NO_TEXT
  const ask = PROMPTS.repair({ problems: repair.problems, wanted: repair.wanted })
  return {
    request: {
      ...asked.request,
      messages: [...asked.request.messages, { role: 'assistant', content: said }, { role: 'user', content: ask }],
    },
    promptTokens: asked.promptTokens + repair.count(said) + repair.count(ask),
  }
}
