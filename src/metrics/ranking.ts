/**
 * Scores sorted once, so that every ranking metric and every bootstrap draw walks the same order. Pure.
 */
import { AppError } from '../errors.ts'

/** Rows by falling score; rows of equal score stand side by side and form one tie. */
export interface Ranking {
  /** (n) row numbers, highest score first; rows of a tie in row order. */
  readonly order: Uint32Array
  /** (ties) end position in `order` of each tie, exclusive; the last one is n. */
  readonly tieEnds: Uint32Array
}

/**
 * @param scores (n) any numbers, infinities included
 * @throws AppError output-not-finite if a score is NaN: a NaN has no rank and would silently spoil every metric
 */
export function rankByScore(scores: ArrayLike<number>): Ranking {
  const n = scores.length
  const keys = new Float64Array(n)
  for (let i = 0; i < n; i++) {
    const score = scores[i] ?? Number.NaN
    if (Number.isNaN(score))
      throw new AppError('output-not-finite', `score ${i} of ${n} is NaN: it cannot be ranked; find out who made it`)
    // Adding 0 makes -0 the 0 that it equals.
    keys[i] = score + 0
  }
  const key = (row: number): number => keys[row] ?? 0
  const order = n < RADIX_ROWS ? comparedOrder(keys) : radixOrder(keys)
  const ends: number[] = []
  for (let position = 1; position <= n; position++) {
    if (position === n || key(order[position] ?? 0) !== key(order[position - 1] ?? 0)) ends.push(position)
  }
  return { order, tieEnds: Uint32Array.from(ends) }
}

function comparedOrder(keys: Float64Array): Uint32Array {
  const key = (row: number): number => keys[row] ?? 0
  return Uint32Array.from(keys.keys()).sort((a, b) => {
    const x = key(a)
    const y = key(b)
    return x > y ? -1 : x < y ? 1 : a - b
  })
}

/** From here on six passes over the rows are cheaper than n log n calls of a comparison. */
const RADIX_ROWS = 1024
const DIGIT_BITS = 11
const DIGITS = 1 << DIGIT_BITS

/** Falling by value, by digits of the bits from the lowest up; each pass keeps the order of equal digits. */
function radixOrder(keys: Float64Array): Uint32Array {
  const n = keys.length
  const words = new Uint32Array(keys.buffer, keys.byteOffset, 2 * n)
  const [lowAt, highAt] = LITTLE_ENDIAN ? [0, 1] : [1, 0]
  const low = new Uint32Array(n)
  const high = new Uint32Array(n)
  for (let i = 0; i < n; i++) {
    const bits = words[2 * i + highAt] as number
    // Positive numbers fall when their bits are inverted; negative ones have their sign apart and fall as they stand.
    const negative = bits >>> 31 === 1
    high[i] = negative ? bits : bits ^ 0x7fffffff
    low[i] = negative ? (words[2 * i + lowAt] as number) : ~(words[2 * i + lowAt] as number)
  }
  let from = Uint32Array.from(keys.keys())
  let to = new Uint32Array(n)
  const starts = new Uint32Array(DIGITS)
  for (let shift = 0; shift < 64; shift += DIGIT_BITS) {
    const digit = (row: number): number => digitAt(low[row] as number, high[row] as number, shift)
    starts.fill(0)
    for (let i = 0; i < n; i++) {
      const at = digit(i)
      starts[at] = (starts[at] as number) + 1
    }
    let sum = 0
    for (let at = 0; at < DIGITS; at++) {
      const count = starts[at] as number
      starts[at] = sum
      sum += count
    }
    for (let k = 0; k < n; k++) {
      const row = from[k] as number
      const at = digit(row)
      const place = starts[at] as number
      to[place] = row
      starts[at] = place + 1
    }
    const filled = to
    to = from
    from = filled
  }
  return from
}

/** DIGIT_BITS bits of a 64-bit number from bit `shift` on. */
function digitAt(low: number, high: number, shift: number): number {
  if (shift >= 32) return (high >>> (shift - 32)) & (DIGITS - 1)
  const inLow = low >>> shift
  return (shift + DIGIT_BITS > 32 ? inLow | (high << (32 - shift)) : inLow) & (DIGITS - 1)
}

const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** The ranking of the rows whose mask is not 0, row numbers unchanged: one sort serves every part of the rows. */
export function restrictRanking({ order, tieEnds }: Ranking, mask: ArrayLike<number>): Ranking {
  const kept = new Uint32Array(order.length)
  const ends: number[] = []
  let count = 0
  let position = 0
  for (const end of tieEnds) {
    const before = count
    for (; position < end; position++) {
      const row = order[position] ?? 0
      if (mask[row] !== 0) kept[count++] = row
    }
    if (count > before) ends.push(count)
  }
  return { order: kept.subarray(0, count), tieEnds: Uint32Array.from(ends) }
}

/** Checks that the columns of a metric belong together; a mismatch is our bug. */
export function requireSameLength(
  metric: string,
  count: number,
  columns: Readonly<Record<string, number | undefined>>,
): void {
  for (const [name, length] of Object.entries(columns)) {
    if (length !== undefined && length !== count)
      throw new AppError('invariant', `${metric}: ${count} scores but ${length} ${name}`)
  }
}
