/**
 * What a case would send: its history in the form of its target.
 */
import { convertHistory } from '../../protocol/convert/convert-history.ts'
import { endWithUser } from '../../protocol/end-with-user.ts'
import { HISTORY_FORMATS, type History, type HistoryFormat, type JsonValue } from '../../protocol/history.ts'
import type { JsonObject } from '../../protocol/segment.ts'
import type { CaseFile } from './case-file.schema.ts'

export interface Performed {
  readonly output: JsonObject
  readonly rendered: History | null
}

/** Cases say `openai-responses-items`, `ai-sdk-model-messages`; null for a log and for a format that is nobody's. */
export function historyFormat(name: string): HistoryFormat | null {
  if (name.startsWith('ai-sdk-ui')) return null
  return HISTORY_FORMATS.find((known) => name === known || name.startsWith(`${known}-`)) ?? null
}

/** The request as it would be sent to the target: repaired, converted, ending with the user where the target changes. */
export function renderFor(
  given: CaseFile,
  history: History,
): { readonly rendered: History; readonly losses: readonly string[] } {
  const target = historyFormat(given.target ?? '') ?? history.format
  if (target === history.format) return { rendered: history, losses: [] }
  const { history: converted, losses } = convertHistory(history, target)
  return { rendered: endWithUser(converted), losses }
}

/** A value of ours without functions, as JSON. */
export function toJson(value: unknown): JsonValue {
  const copy: JsonValue = JSON.parse(JSON.stringify(value))
  return copy
}
