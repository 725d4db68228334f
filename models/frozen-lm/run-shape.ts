/**
 * How many tokens a run really computes. onnxruntime's matrix product takes another code path, with another summation
 * order, when a matrix has one row; attention splits queries and keys into blocks, so a run whose last block holds one
 * row gives other last bits than the same tokens in another split. Measured on CPU with 340 (prefix, target) splits:
 * every difference was such a case, and none is left when such runs are lengthened by a token or two that nothing reads.
 */

/** Divides every block length the attention kernel uses: 2 x head size for queries, a share of the L2 cache for keys. */
const BLOCK_DIVISOR = 16

/** @returns S' >= S: tokens to run behind `pastTokens` so that no block of queries or keys ends in a single row */
export function computedTokenCount(tokenCount: number, pastTokens: number): number {
  let padded = tokenCount
  while (padded % BLOCK_DIVISOR === 1 || (pastTokens + padded) % BLOCK_DIVISOR === 1) padded += 1
  return padded
}

/** The wanted rows, at least two of them: a single one would take the one-row path in the last layer. */
export function computedRows(rows: readonly number[]): readonly number[] {
  return rows.length === 1 ? [...rows, ...rows] : rows
}
