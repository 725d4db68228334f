/**
 * From the vectors of one run to its rows of pairs.arrow. Pure: no model, no files.
 */
import type { LabelRow } from '../data/annotate/label-record.ts'
import { labelAt } from '../data/annotate/label-record.ts'
import type { PairTable } from '../data/store/dataset.ts'
import { createPairTable } from '../data/store/pair-columns.ts'
import { type TrajectoryVectors, VECTOR_ROLES, widen } from '../data/store/trajectory-vectors.ts'
import { countActingTokens } from '../models/tokenizer/acting-tokens.ts'
import { AppError, invariant } from '../src/errors.ts'
import { buildLiteralIndex } from '../src/evidence/literal-index.ts'
import { EVIDENCE_NAMES, evidenceFeaturesFrom } from '../src/evidence/online-features.ts'
import { cosineSimilarities, neighboursFrom, topNeighbours } from '../src/router/top-mean.ts'
import type { Matrix } from '../src/tensor/matrix.ts'
import { interactionText } from '../src/trajectory/interaction-text.ts'
import { endCheckpoint, type Trajectory } from '../src/trajectory/trajectory.ts'

export interface PairSource {
  readonly trajectory: Trajectory
  /** Its position in the dataset. */
  readonly index: number
  readonly checkpoints: readonly number[]
  readonly labels: LabelRow
  readonly vectors: TrajectoryVectors
  /** Row of its first vector in vectors.arrow. */
  readonly firstRow: number
  readonly topK: number
}

/**
 * One row per pair (i, c), by checkpoint, then interaction.
 * @throws invariant when a vector of a pair is missing
 */
export function buildPairs(source: PairSource): PairTable {
  const { trajectory, index, checkpoints, labels, vectors, firstRow, topK } = source
  const length = endCheckpoint(trajectory)
  const rows = findRows(vectors, length)
  const neighbours = neighbourFinder(vectors, rows, topK)
  const literals = buildLiteralIndex(trajectory)
  const labelOf = new Map(labels.labels.map((label) => [label.interaction, label]))
  const targets = Math.max(...checkpoints) - 1
  const actingTokens = trajectory.interactions
    .slice(0, targets)
    .map((interaction) => countActingTokens(interactionText(interaction)))
  const evidenceSize = EVIDENCE_NAMES.length
  const count = checkpoints.reduce((sum, checkpoint) => sum + checkpoint - 1, 0)
  const table = createPairTable({ count, topK, evidenceSize })
  let pair = 0
  for (const checkpoint of checkpoints) {
    const evidence = evidenceFeaturesFrom(literals, checkpoint)
    const pool = rows.pool(checkpoint)
    if (evidence.interactions.length !== pool.length)
      throw new AppError('invariant', `${evidence.interactions.length} evidence rows for ${pool.length} targets`)
    table.evidence.set(evidence.values, pair * evidenceSize)
    const nearest = neighbours(checkpoint)
    for (let i = 0; i < pool.length; i++, pair++) {
      const label = invariant(labelOf.get(i), `interaction ${i} of ${trajectory.id} has a label`)
      const h = at(pool, i)
      table.trajectory[pair] = index
      table.interaction[pair] = i
      table.checkpoint[pair] = checkpoint
      table.label[pair] = labelAt(label, checkpoint)
      table.futureInteractions[pair] = length - checkpoint
      table.boundary[pair] = label.boundary ?? -1
      table.hRow[pair] = firstRow + h
      table.qRow[pair] = firstRow + rows.q(checkpoint)
      for (let slot = 0; slot < topK; slot++) {
        const j = at(nearest, i * topK + slot)
        table.topRows[pair * topK + slot] = j === -1 ? -1 : firstRow + at(pool, j)
      }
      table.sourceTokens[pair] = at(vectors.sourceTokens, h)
      table.actingTokens[pair] = at(actingTokens, i)
      table.viewTokens[pair] = at(vectors.viewTokens, h)
      table.truncatedTokens[pair] = at(vectors.truncatedTokens, h)
    }
  }
  return table
}

interface RowFinder {
  /** Row of q(c). */
  q(checkpoint: number): number
  /** Rows of the checkpoint's targets 0..c-2, in order. They stand next to each other. */
  pool(checkpoint: number): readonly number[]
  /** h belongs to the interaction alone (`once`), not to a pair. */
  readonly once: boolean
}

function findRows(vectors: TrajectoryVectors, length: number): RowFinder {
  const key = (checkpoint: number, interaction: number): number => (checkpoint + 1) * (length + 1) + interaction + 1
  const rowOf = new Map<number, number>()
  let once = false
  for (let row = 0; row < vectors.rows; row++) {
    const checkpoint = at(vectors.checkpoint, row)
    rowOf.set(key(checkpoint, at(vectors.interaction, row)), row)
    once ||= checkpoint === -1 && VECTOR_ROLES[at(vectors.role, row)] === 'h'
  }
  const find = (checkpoint: number, interaction: number): number => {
    const row = rowOf.get(key(checkpoint, interaction))
    if (row !== undefined) return row
    throw new AppError('invariant', `the extractor returned no vector for interaction ${interaction} at ${checkpoint}`)
  }
  return {
    once,
    q: (checkpoint) => find(checkpoint, -1),
    pool: (checkpoint) => Array.from({ length: checkpoint - 1 }, (_, i) => find(once ? -1 : checkpoint, i)),
  }
}

/** Indices into the pool per target, (pool, topK); with one h per interaction one similarity matrix serves all checkpoints. */
function neighbourFinder(vectors: TrajectoryVectors, rows: RowFinder, k: number): (checkpoint: number) => Int32Array {
  const matrix = widen(vectors)
  const poolMatrix = (pool: readonly number[]): Matrix => {
    const first = pool[0] ?? 0
    return {
      data: matrix.data.subarray(first * matrix.cols, (first + pool.length) * matrix.cols),
      rows: pool.length,
      cols: matrix.cols,
    }
  }
  if (!rows.once) return (checkpoint) => topNeighbours({ vectors: poolMatrix(rows.pool(checkpoint)), k })
  const stride = vectors.role.filter((role) => VECTOR_ROLES[role] === 'h').length
  const similarities = cosineSimilarities({
    ...matrix,
    data: matrix.data.subarray(0, stride * matrix.cols),
    rows: stride,
  })
  return (checkpoint) => neighboursFrom({ similarities, stride, count: checkpoint - 1, k })
}

/** Element i of an array that is long enough by construction. */
function at(values: ArrayLike<number>, i: number): number {
  return values[i] as number
}
