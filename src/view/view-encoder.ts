/**
 * Text to tokens, once per text: the cached ground that every section is cut from. Pure but for its own bounded cache.
 *
 * What is exact: a text of at most `windowChars` code units is encoded whole. Of a longer one only the first and last
 * `windowChars / 2` are encoded, because no view can keep more of it; the tokens of the part between are estimated from
 * the rate of the two ends, and `estimated` says so. The budget never depends on the estimate: only encoded tokens are
 * ever placed in a view.
 */
import { takeEnd, takeStart, wellFormed } from './cut-text.ts'
import type { ViewTokenizer } from './view-tokenizer.ts'

/** Exact counts up to here: a JavaScript byte-level BPE encodes about 400,000 code units a second (measured). */
const MIN_WINDOW_CHARS = 32768

/** Code units one kept token may stand for before a window holds fewer tokens than its budget (assumption). */
const WINDOW_CHARS_PER_TOKEN = 16

export interface EncodedText {
  /** All tokens, or those of the first half-window when `estimated`. */
  readonly head: Int32Array
  /** Tokens of the last half-window; empty unless `estimated`. */
  readonly tail: Int32Array
  /** Tokens of the whole text. */
  readonly tokenCount: number
  /** tokenCount is partly extrapolated. */
  readonly estimated: boolean
}

export interface ViewEncoder {
  readonly tokenizer: ViewTokenizer
  encode(text: string): EncodedText
}

/**
 * @param options.largestSection tokens of the largest section budget: windows always suffice for it
 * @param options.maxCachedChars code units of text whose tokens are kept; the longest unused go first
 */
export function createViewEncoder(
  tokenizer: ViewTokenizer,
  options: { readonly largestSection: number; readonly maxCachedChars: number },
): ViewEncoder {
  const windowChars = Math.max(MIN_WINDOW_CHARS, options.largestSection * WINDOW_CHARS_PER_TOKEN)
  const cache = new Map<string, EncodedText>()
  let cachedChars = 0
  return {
    tokenizer,
    encode(text) {
      const known = cache.get(text)
      const encoded = known ?? encodeText(tokenizer, text, windowChars)
      if (known !== undefined) cache.delete(text)
      else cachedChars += text.length
      cache.set(text, encoded)
      for (const oldest of cache.keys()) {
        if (cachedChars <= options.maxCachedChars) break
        cache.delete(oldest)
        cachedChars -= oldest.length
      }
      return encoded
    },
  }
}

/** @param windowChars at most this many code units are encoded; see the file head */
export function encodeText(tokenizer: ViewTokenizer, text: string, windowChars: number): EncodedText {
  const none = new Int32Array(0)
  if (text === '') return { head: none, tail: none, tokenCount: 0, estimated: false }
  if (text.length <= windowChars) {
    const head = tokenizer.encode(wellFormed(text))
    return { head, tail: none, tokenCount: head.length, estimated: false }
  }
  const start = takeStart(text, Math.ceil(windowChars / 2))
  const end = takeEnd(text, Math.floor(windowChars / 2))
  const head = tokenizer.encode(wellFormed(start))
  const tail = tokenizer.encode(wellFormed(end))
  const encodedChars = start.length + end.length
  const tokenCount = Math.round(((head.length + tail.length) * text.length) / encodedChars)
  return { head, tail, tokenCount, estimated: true }
}
