/**
 * Lone surrogates: half of a UTF-16 pair without its other half, left by cutting text inside an emoji. Pure.
 */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

/** Most text has no surrogate at all, and this test is several times faster. */
const ANY_SURROGATE = /[\ud800-\udfff]/

export function hasLoneSurrogate(text: string): boolean {
  return ANY_SURROGATE.test(text) && LONE_SURROGATE.test(text)
}

const LONE_SURROGATES = new RegExp(LONE_SURROGATE, 'g')

/** Every lone surrogate replaced by U+FFFD; all else unchanged. */
export function toWellFormed(text: string): string {
  return hasLoneSurrogate(text) ? text.replace(LONE_SURROGATES, '\ufffd') : text
}

/** At most `limit` UTF-16 code units, never ending inside a pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  const last = text.charCodeAt(limit - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit)
}
