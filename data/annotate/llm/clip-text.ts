/**
 * Cuts a text to a number of tokens: head and tail stay, a marker says how much is gone. Pure.
 */
import { takeEnd, takeStart } from '../../../src/view/cut-text.ts'

export type CountTokens = (text: string) => number

/** Shrinks at least this much per round, so that the loop ends after a few counts. */
const STEP = 0.85

/**
 *   limit    tokens, >= 0
 *   returns  the text itself if it fits; else count(result) <= limit, "" where not even the marker fits
 */
export function clipText(text: string, limit: number, count: CountTokens): string {
  const tokens = count(text)
  if (tokens <= limit) return text
  let chars = Math.floor((text.length * limit) / Math.max(tokens, 1))
  for (;;) {
    const head = takeStart(text, Math.ceil(chars / 2))
    const tail = takeEnd(text, Math.floor(chars / 2))
    const gone = text.length - head.length - tail.length
    const clipped = `${head}\n[... ${gone} characters left out ...]\n${tail}`
    if (count(clipped) <= limit) return clipped
    if (chars === 0) return ''
    chars = Math.floor(chars * STEP)
  }
}
