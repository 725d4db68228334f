/** Some rows of a pair table, as a pair table of their own. Pure. */
import type { PairTable } from './dataset.ts'

/** @param rows pair numbers, in the order that the result has; in range */
export function selectPairs(pairs: PairTable, rows: Int32Array): PairTable {
  const take = <Column extends Int32Array | Uint8Array | Float32Array>(column: Column, width = 1): Column => {
    const out = column.slice(0, rows.length * width)
    rows.forEach((row, at) => {
      out.set(column.subarray(row * width, (row + 1) * width), at * width)
    })
    return out as Column
  }
  return {
    count: rows.length,
    trajectory: take(pairs.trajectory),
    interaction: take(pairs.interaction),
    checkpoint: take(pairs.checkpoint),
    label: take(pairs.label),
    futureInteractions: take(pairs.futureInteractions),
    boundary: take(pairs.boundary),
    hRow: take(pairs.hRow),
    qRow: take(pairs.qRow),
    topRows: take(pairs.topRows, pairs.topK),
    topK: pairs.topK,
    sourceTokens: take(pairs.sourceTokens),
    actingTokens: take(pairs.actingTokens),
    viewTokens: take(pairs.viewTokens),
    truncatedTokens: take(pairs.truncatedTokens),
    evidence: take(pairs.evidence, pairs.evidenceSize),
    evidenceSize: pairs.evidenceSize,
  }
}
