/** A token counter that counts each text once: score, plan and apply of one call count the same messages. */
import type { CountTokens } from '../src/compaction/count-history.ts'

/** @returns the same numbers as `countTokens`; it keeps every text it was asked about, so it must not outlive its call */
export function rememberCounts(countTokens: CountTokens): CountTokens {
  const known = new Map<string, number>()
  return (text) => {
    const counted = known.get(text) ?? countTokens(text)
    known.set(text, counted)
    return counted
  }
}
