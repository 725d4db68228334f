/**
 * Terminal output as a person would read it. Pure; linear in the text, line by line.
 */

const ESC = '\u001b'
const BEL = '\u0007'
/** CSI and OSC sequences, and the two-character escapes. */
const ESCAPES = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|[@-Z\\\\^_])`, 'g')

/** Colours, cursor movements and titles removed; nothing else is changed. */
export function stripAnsi(text: string): string {
  return text.includes(ESC) ? text.replace(ESCAPES, '') : text
}

/**
 * What a terminal shows after the output: escapes removed, and of a line that was written over (progress bars with CR,
 * spinners with backspace) the last state. Line breaks become LF.
 */
export function settledTerminal(text: string): string {
  const plain = stripAnsi(text).replaceAll('\r\n', '\n')
  if (!/[\r\b]/.test(plain)) return plain
  return plain
    .split('\n')
    .map((line) => erase(lastWritten(line)))
    .join('\n')
}

function lastWritten(line: string): string {
  if (!line.includes('\r')) return line
  return line.split('\r').findLast((part) => part.trim() !== '') ?? ''
}

function erase(line: string): string {
  if (!line.includes('\b')) return line
  const kept: string[] = []
  for (const character of line) {
    if (character === '\b') kept.pop()
    else kept.push(character)
  }
  return kept.join('')
}
