/** A curve in one line of text. */

const BLOCKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** One block per value, from the lowest to the highest of them; a blank for null. Equal values are a flat line. */
export function sparkline(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null)
  const low = Math.min(...known)
  const span = Math.max(...known) - low
  return values
    .map((value) => {
      if (value === null) return ' '
      const level = span === 0 ? 3 : Math.round(((value - low) / span) * (BLOCKS.length - 1))
      return BLOCKS[level] ?? ''
    })
    .join('')
}
