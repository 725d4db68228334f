/**
 * Token counters of a Claude Code session: usage repeats on every line of a model call, and only the last line has the
 * final output tokens, so a call counts once (formats.md; ../shared/cases 23).
 */
import { readJsonLines } from './json-lines.ts'
import { idOf, isObject, objectOf } from './json-value.ts'

export interface SessionUsage {
  /** Model calls, by message.id. */
  readonly apiCalls: number
  readonly outputTokens: number
}

export async function sumUsage(path: string): Promise<SessionUsage> {
  const outputOf = new Map<string, number>()
  for await (const line of readJsonLines(path)) {
    if (line.kind === 'problem' || !isObject(line.value) || line.value.type !== 'assistant') continue
    const message = objectOf(line.value.message)
    const id = idOf(message.id)
    const tokens = objectOf(message.usage).output_tokens
    if (id !== null) outputOf.set(id, typeof tokens === 'number' ? tokens : (outputOf.get(id) ?? 0))
  }
  return { apiCalls: outputOf.size, outputTokens: [...outputOf.values()].reduce((sum, tokens) => sum + tokens, 0) }
}
