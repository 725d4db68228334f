/**
 * Fits one text into a number of tokens: its head, a marker that says how many tokens are gone, its tail. Pure.
 */
import type { EncodedText, ViewEncoder } from './view-encoder.ts'

export interface Truncated {
  /** At most `limit` tokens. */
  readonly tokens: Int32Array
  /** Source tokens that are not in `tokens`. */
  readonly goneTokens: number
}

/** Bytes of a UTF-8 character that can stand before or after a cut through it, each at least one token. */
const MAX_PARTIAL_TOKENS = 3

/**
 * Half of what the marker leaves is head, half is tail (assumption: errors and results stand at the ends). Cuts step
 * back to whole characters, so neither half ends inside one. Where not even the marker fits, nothing is kept.
 *   limit    tokens, >= 0
 *   returns  tokens.length <= limit, always
 */
export function truncateTokens(encoder: ViewEncoder, text: EncodedText, limit: number): Truncated {
  if (!text.estimated && text.tokenCount <= limit) return { tokens: text.head, goneTokens: 0 }
  const end = text.estimated ? text.tail : text.head
  let keep = limit
  while (keep >= 0) {
    const headCount = wholeCharactersBefore(encoder, text.head, Math.min(Math.ceil(keep / 2), text.head.length))
    const tailCount = wholeCharactersAfter(encoder, end, Math.min(Math.floor(keep / 2), end.length))
    const gone = text.tokenCount - headCount - tailCount
    const marker = encoder.encode(markerText(gone, text.estimated)).head
    const total = headCount + marker.length + tailCount
    if (total <= limit) {
      const tokens = new Int32Array(total)
      tokens.set(text.head.subarray(0, headCount), 0)
      tokens.set(marker, headCount)
      tokens.set(end.subarray(end.length - tailCount), headCount + marker.length)
      return { tokens, goneTokens: gone }
    }
    keep -= total - limit
  }
  return { tokens: new Int32Array(0), goneTokens: text.tokenCount }
}

export function markerText(goneTokens: number, estimated: boolean): string {
  return `\n[... ${estimated ? 'about ' : ''}${goneTokens} tokens left out ...]\n`
}

/** The largest n' <= n such that the first n' tokens do not end inside a character. */
function wholeCharactersBefore(encoder: ViewEncoder, ids: Int32Array, count: number): number {
  for (let back = 0; back <= MAX_PARTIAL_TOKENS && back <= count; back++) {
    const end = count - back
    const last = encoder.tokenizer.decode(ids.subarray(Math.max(0, end - MAX_PARTIAL_TOKENS - 1), end))
    if (!last.endsWith('\ufffd')) return end
  }
  return count
}

/** The largest n' <= n such that the last n' tokens do not start inside a character. */
function wholeCharactersAfter(encoder: ViewEncoder, ids: Int32Array, count: number): number {
  for (let back = 0; back <= MAX_PARTIAL_TOKENS && back <= count; back++) {
    const start = ids.length - count + back
    const first = encoder.tokenizer.decode(ids.subarray(start, start + MAX_PARTIAL_TOKENS + 1))
    if (!first.startsWith('\ufffd')) return count - back
  }
  return count
}
