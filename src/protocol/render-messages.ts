/**
 * A message list back to JSON text, each message byte for byte as it came. Pure.
 */
import type { HistoryMessage } from './history.ts'

/** JSON array text; raw slices verbatim, joined by commas. */
export function renderMessages(messages: readonly HistoryMessage[]): string {
  return `[${messages.map((message) => message.raw).join(',')}]`
}
