/**
 * Text from logs on a terminal: one line, nothing that moves the cursor or turns the writing direction, cut to columns.
 */

/** Control characters (C0, C1), line and paragraph separators, bidirectional marks and overrides, zero-width characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a log must not send to a terminal
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes of logged command output
const ANSI_SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-_])/g

/** One line without colour codes; every run of blanks and control characters is one blank. */
export function oneLine(text: string): string {
  return text.replace(ANSI_SEQUENCE, '').replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim()
}

/** Columns that a text takes; East Asian wide characters and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

/** Exactly `width` columns: cut with an ellipsis, or filled up with blanks on the right (`end`: on the left). */
export function fitTo(text: string, width: number, align: 'start' | 'end' = 'start'): string {
  const cut = cutTo(text, width)
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(cut)))
  return align === 'start' ? cut + blanks : blanks + cut
}

/** At most `width` columns; the last one is an ellipsis where something is cut off. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let used = 0
  let kept = ''
  for (const character of text) {
    const next = used + characterWidth(character)
    if (next > width - 1) break
    used = next
    kept += character
  }
  return width <= 0 ? '' : `${kept}\u2026`
}

const COMBINING = /^\p{M}$/u
const WIDE_RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
]

function characterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (COMBINING.test(character)) return 0
  return WIDE_RANGES.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}

export type Paint = (style: 'dim' | 'bold' | 'ready' | 'quote', text: string) => string

const SGR = { dim: 2, bold: 1, ready: 32, quote: 7 } as const

/** Colours only where somebody looks at a terminal. */
export function painter(colour: boolean): Paint {
  return (style, text) => (colour && text !== '' ? `\u001b[${SGR[style]}m${text}\u001b[0m` : text)
}
