/**
 * One message into segments, by format. Pure.
 */
import { FORMATS } from './formats.ts'
import type { History, HistoryMessage } from './history.ts'
import type { Segment } from './segment.ts'

/**
 * The segments of message number `index`, in the order of the message.
 * @throws history-malformed with the pointer of a field that has not the shape of the format
 */
export function readSegments(
  history: Pick<History, 'format' | 'listField'>,
  message: HistoryMessage,
  index: number,
): readonly Segment[] {
  return FORMATS[history.format].readSegments(message, [history.listField, index])
}
