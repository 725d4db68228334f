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
  const order = new Uint32Array(n)
  for (let i = 0; i < n; i++) {
    const score = scores[i] ?? Number.NaN
    if (Number.isNaN(score))
      throw new AppError('output-not-finite', `score ${i} of ${n} is NaN: it cannot be ranked; find out who made it`)
    keys[i] = score
    order[i] = i
  }
  const key = (row: number): number => keys[row] ?? 0
  order.sort((a, b) => {
    const x = key(a)
    const y = key(b)
    return x > y ? -1 : x < y ? 1 : a - b
  })
  const ends: number[] = []
  for (let position = 1; position <= n; position++) {
    if (position === n || key(order[position] ?? 0) !== key(order[position - 1] ?? 0)) ends.push(position)
  }
  return { order, tieEnds: Uint32Array.from(ends) }
}

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
