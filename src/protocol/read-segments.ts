/**
 * One message into segments, by format. Pure.
 */
import { readAnthropicSegments } from './anthropic-segments.ts'
import type { HistoryFormat, HistoryMessage } from './history.ts'
import { readOpenAiSegments } from './openai-segments.ts'
import type { Segment } from './segment.ts'

/**
 * The segments of message number `index`, in the order of the message.
 * @throws history-malformed with the pointer of a field that has not the shape of the format
 */
export function readSegments(format: HistoryFormat, message: HistoryMessage, index: number): readonly Segment[] {
  switch (format) {
    case 'openai-chat':
      return readOpenAiSegments(message, index)
    case 'anthropic-messages':
      return readAnthropicSegments(message, index)
    default:
      return format satisfies never
  }
}
