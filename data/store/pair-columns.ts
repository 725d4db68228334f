/**
 * pairs.arrow: one record batch per trajectory, one row per pair (i, c).
 */
import type { ColumnBatch, ColumnKinds } from './arrow-file.ts'
import type { DatasetTrajectory, PairTable } from './dataset.ts'

/** Names of strings that many pairs share; each is stored once in the file. */
export interface PairNames {
  readonly ids: readonly string[]
  readonly groups: readonly string[]
  readonly domains: readonly string[]
}

export function pairNames(trajectories: readonly DatasetTrajectory[]): PairNames {
  return {
    ids: trajectories.map((trajectory) => trajectory.id),
    groups: [...new Set(trajectories.map((trajectory) => trajectory.group))],
    domains: [...new Set(trajectories.map((trajectory) => trajectory.domain))],
  }
}

export function pairColumns(
  names: PairNames,
  sizes: { readonly topK: number; readonly evidenceSize: number },
): ColumnKinds {
  return {
    trajectory: { kind: 'name', names: names.ids },
    group: { kind: 'name', names: names.groups },
    domain: { kind: 'name', names: names.domains },
    interaction: { kind: 'i32' },
    checkpoint: { kind: 'i32' },
    label: { kind: 'u8' },
    future_interactions: { kind: 'i32' },
    boundary: { kind: 'i32' },
    h_row: { kind: 'i32' },
    q_row: { kind: 'i32' },
    top_rows: { kind: 'list', item: 'i32', length: sizes.topK },
    source_tokens: { kind: 'i32' },
    acting_tokens: { kind: 'i32' },
    view_tokens: { kind: 'i32' },
    truncated_tokens: { kind: 'i32' },
    evidence: { kind: 'list', item: 'f32', length: sizes.evidenceSize },
  }
}

/** @param pairs of one trajectory */
export function toPairBatch(pairs: PairTable, trajectory: DatasetTrajectory, names: PairNames): ColumnBatch {
  return {
    trajectory: pairs.trajectory,
    group: new Int32Array(pairs.count).fill(names.groups.indexOf(trajectory.group)),
    domain: new Int32Array(pairs.count).fill(names.domains.indexOf(trajectory.domain)),
    interaction: pairs.interaction,
    checkpoint: pairs.checkpoint,
    label: pairs.label,
    future_interactions: pairs.futureInteractions,
    boundary: pairs.boundary,
    h_row: pairs.hRow,
    q_row: pairs.qRow,
    top_rows: pairs.topRows,
    source_tokens: pairs.sourceTokens,
    acting_tokens: pairs.actingTokens,
    view_tokens: pairs.viewTokens,
    truncated_tokens: pairs.truncatedTokens,
    evidence: pairs.evidence,
  }
}

export function createPairTable(sizes: {
  readonly count: number
  readonly topK: number
  readonly evidenceSize: number
}): PairTable {
  const { count, topK, evidenceSize } = sizes
  return {
    count,
    trajectory: new Int32Array(count),
    interaction: new Int32Array(count),
    checkpoint: new Int32Array(count),
    label: new Uint8Array(count),
    futureInteractions: new Int32Array(count),
    boundary: new Int32Array(count),
    hRow: new Int32Array(count),
    qRow: new Int32Array(count),
    topRows: new Int32Array(count * topK),
    topK,
    sourceTokens: new Int32Array(count),
    actingTokens: new Int32Array(count),
    viewTokens: new Int32Array(count),
    truncatedTokens: new Int32Array(count),
    evidence: new Float32Array(count * evidenceSize),
    evidenceSize,
  }
}

/** Copies a record batch into rows [start, ...) of a table; the kinds were checked when the file was opened. */
export function fillPairs(table: PairTable, start: number, columns: ColumnBatch): void {
  const copy = (target: Int32Array | Uint8Array | Float32Array, name: string, width = 1): void => {
    target.set(columns[name] ?? [], start * width)
  }
  copy(table.trajectory, 'trajectory')
  copy(table.interaction, 'interaction')
  copy(table.checkpoint, 'checkpoint')
  copy(table.label, 'label')
  copy(table.futureInteractions, 'future_interactions')
  copy(table.boundary, 'boundary')
  copy(table.hRow, 'h_row')
  copy(table.qRow, 'q_row')
  copy(table.topRows, 'top_rows', table.topK)
  copy(table.sourceTokens, 'source_tokens')
  copy(table.actingTokens, 'acting_tokens')
  copy(table.viewTokens, 'view_tokens')
  copy(table.truncatedTokens, 'truncated_tokens')
  copy(table.evidence, 'evidence', table.evidenceSize)
}
