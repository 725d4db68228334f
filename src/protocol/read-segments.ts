/**
 * One message into segments, by format. Pure.
 */
import { FORMATS } from './formats.ts'
import type { History, HistoryMessage } from './history.ts'
import type { Segment } from './segment.ts'

interface Known {
  readonly format: string
  readonly listField: string
  readonly index: number
  readonly segments: readonly Segment[]
}

/** Messages never change, and parsing, partition and rules each read them: a message is cut into segments once. */
const KNOWN = new WeakMap<HistoryMessage, Known>()

/**
 * The segments of message number `index`, in the order of the message.
 * @throws history-malformed with the pointer of a field that has not the shape of the format
 */
export function readSegments(
  history: Pick<History, 'format' | 'listField'>,
  message: HistoryMessage,
  index: number,
): readonly Segment[] {
  const { format, listField } = history
  const known = KNOWN.get(message)
  if (known?.index === index && known.format === format && known.listField === listField) return known.segments
  const segments = FORMATS[format].readSegments(message, [listField, index])
  KNOWN.set(message, { format, listField, index, segments })
  return segments
}
