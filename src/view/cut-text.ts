/**
 * Cutting text by UTF-16 code units without making malformed Unicode. Pure.
 */

/** The first `chars` code units, one less where the cut would fall inside a surrogate pair. */
export function takeStart(text: string, chars: number): string {
  return text.slice(0, splitsPair(text, chars) ? chars - 1 : chars)
}

/** The last `chars` code units, one less where the cut would fall inside a surrogate pair. */
export function takeEnd(text: string, chars: number): string {
  const start = Math.max(0, text.length - chars)
  return text.slice(splitsPair(text, start) ? start + 1 : start)
}

/** The text with each lone surrogate replaced by U+FFFD, which is what any UTF-8 encoder would send. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

function splitsPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && isSurrogate(text, at - 1, 0xd800) && isSurrogate(text, at, 0xdc00)
}

/** @param first first code unit of the wanted half of the surrogate range, which is 1,024 wide */
function isSurrogate(text: string, at: number, first: number): boolean {
  const unit = text.charCodeAt(at)
  return unit >= first && unit < first + 0x400
}
