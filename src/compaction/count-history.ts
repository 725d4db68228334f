/**
 * Acting-model tokens of a history, by part (DESIGN section 10). Pure. An estimate: providers frame messages in their own
 * way, and system prompt and tools are left out because no compaction changes them.
 */
import type { History, HistoryMessage, Part } from '../protocol/history.ts'
import type { Media } from '../protocol/media.ts'
import { readSegments } from '../protocol/read-segments.ts'
import type { Segment } from '../protocol/segment.ts'
import { countMedia, MEDIUM_TOKENS } from './media-tokens.ts'

export type CountTokens = (text: string) => number

/** Role and delimiters of one message. Assumption: what OpenAI's published counting recipes add, rounded up. */
export const MESSAGE_TOKENS = 4

const MEDIA_TYPES: readonly string[] = ['image', 'image_url', 'input_audio', 'file', 'document', 'audio', 'video']

export interface TokenTable {
  /** All messages. */
  readonly total: number
  ofParts(parts: readonly Part[]): number
}

export function buildTokenTable(history: History, countTokens: CountTokens): TokenTable {
  const countMedium = (media: Media): number => countMedia(media, history.format)
  const rows = history.messages.map((message, number) => {
    const row = new Array<number>(Math.max(1, message.blocks?.length ?? 1)).fill(0)
    for (const segment of readSegments(history, message, number)) {
      const slot = segment.block ?? 0
      row[slot] = (row[slot] ?? 0) + countSegment(segment, { countTokens, countMedium })
    }
    return row
  })
  const sum = (row: readonly number[]): number => row.reduce((total, tokens) => total + tokens, 0)
  const ofPart = (part: Part): number => {
    const row = rows[part.message] ?? []
    return part.blocks === undefined ? sum(row) + MESSAGE_TOKENS : sum(row.slice(part.blocks[0], part.blocks[1]))
  }
  return {
    total: rows.reduce((total, row) => total + sum(row) + MESSAGE_TOKENS, 0),
    ofParts: (parts) => parts.reduce((total, part) => total + ofPart(part), 0),
  }
}

/** Tokens of one message that stands alone, such as a summary. */
export function countMessage(history: History, message: HistoryMessage, countTokens: CountTokens): number {
  return buildTokenTable({ ...history, messages: [message] }, countTokens).total
}

function countSegment(
  segment: Segment,
  count: { readonly countTokens: CountTokens; readonly countMedium: (media: Media) => number },
): number {
  const { countTokens, countMedium } = count
  switch (segment.kind) {
    case 'text':
    case 'reasoning':
      return segment.text === '' ? 0 : countTokens(segment.text)
    case 'call':
      return countTokens(`${segment.name}(${segment.arguments})`)
    case 'result':
      return (
        (segment.content === '' ? 0 : countTokens(segment.content)) +
        segment.media.reduce((sum, media) => sum + countMedium(media), 0)
      )
    case 'opaque':
      if (segment.media !== null) return countMedium(segment.media)
      return MEDIA_TYPES.includes(segment.type) ? MEDIUM_TOKENS : countTokens(segment.text)
    default:
      return segment satisfies never
  }
}
