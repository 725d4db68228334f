/**
 * Builds the new message list: interactions of spans out, one summary message in where each span began, everything else as
 * the same raw slices in the same order (DESIGN section 5). Pure.
 */
import { replaceElements } from '../protocol/edit-json.ts'
import { FORMATS } from '../protocol/formats.ts'
import type { History, HistoryMessage, Part } from '../protocol/history.ts'
import { parseOneMessage } from '../protocol/parse-history.ts'

export interface Replacement {
  /** All parts of the span's interactions, the first of them the earliest. */
  readonly parts: readonly Part[]
  readonly summary: HistoryMessage
}

export function replaceSpans(history: History, replacements: readonly Replacement[]): readonly HistoryMessage[] {
  const gone = new Map<number, Part[]>()
  const summaries = new Map<number, HistoryMessage>()
  for (const { parts, summary } of replacements) {
    for (const part of parts) gone.set(part.message, [...(gone.get(part.message) ?? []), part])
    const [first] = parts
    if (first !== undefined) summaries.set(first.message, summary)
  }
  return history.messages.flatMap((message, number) => {
    const summary = summaries.get(number)
    const rest = remainder(history, number, gone.get(number) ?? [])
    return [...(summary === undefined ? [] : [summary]), ...(rest === null ? [] : [rest === 'same' ? message : rest])]
  })
}

/** What is left of a message: itself, nothing, or a message with the other blocks. */
function remainder(history: History, number: number, gone: readonly Part[]): HistoryMessage | 'same' | null {
  if (gone.length === 0) return 'same'
  const message = history.messages[number]
  const blocks = message?.blocks ?? null
  if (message === undefined || blocks === null || gone.some((part) => part.blocks === undefined)) return null
  const kept = blocks.filter(
    (_, block) => !gone.some(({ blocks: range }) => range !== undefined && block >= range[0] && block < range[1]),
  )
  if (kept.length === 0) return null
  const raws = kept.map(({ raw }) => raw)
  const raw = replaceElements(message.raw, [FORMATS[history.format].blockField], raws)
  return parseOneMessage(raw, history, number)
}
