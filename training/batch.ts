/**
 * Batches in factorised form (reference/trainer.md, section 3): each vector of a trajectory enters once, and selection
 * matrices say which pairs use it. The first layer then multiplies some dozens of vectors instead of hundreds of pairs:
 *   Z1 = S . [H_u Wh ; Q_u Wq ; M_u Wm] (+ X Wx) + b1
 * A row of S holds a 1 for h, a 1 for q and 1/k for each of the k neighbours whose mean is m.
 * Dataset in, arrays out. Knows no engine and no order of pairs.
 *
 * Letters: T trajectories in the batch, P pairs per trajectory (padded), N_b vectors of block b per trajectory (padded),
 * N = sum of N_b, X evidence features, d hidden size.
 */
import type { Dataset, PairTable } from '../data/store/dataset.ts'
import { blocksOf } from '../models/router/parameters.ts'
import type { BlockName, RouterSpec } from '../models/router/spec.ts'
import type { BlockStandardisation, Standardisation } from '../models/router/standardisation.ts'
import { invariant } from '../src/errors.ts'
import { type VectorRows, vectorRows } from './vector-rows.ts'

export type VectorBlockName = Exclude<BlockName, 'x'>

export interface VectorBlock {
  readonly name: VectorBlockName
  /** N_b */
  readonly rows: number
  /** (T * N_b, d) standardised; padding rows are 0. */
  readonly values: Float32Array
}

export interface Batch {
  /** T and P. */
  readonly trajectories: number
  readonly pairs: number
  /** In the order of the spec; empty for inputs = evidence. */
  readonly blocks: readonly VectorBlock[]
  /** (T, P, N), its columns in block order, and its transpose (T, N, P). */
  readonly selection: Float32Array
  readonly selectionTransposed: Float32Array
  /** (T * P, X) standardised; null without an evidence block. */
  readonly evidence: Float32Array | null
  /** (T * P) 1 = READY. */
  readonly labels: Float32Array
  /** (T * P) share of the loss; 0 = padding. */
  readonly weights: Float32Array
  /** (T * P) index into the pair table, -1 = padding. */
  readonly pairIndex: Int32Array
}

export interface BatchSource {
  readonly spec: RouterSpec
  readonly pairs: PairTable
  /** Whoever made the source closes them. */
  readonly rows: VectorRows
  readonly standardisation: Standardisation
}

export function createBatchSource(options: {
  readonly dataset: Pick<Dataset, 'pairs' | 'vectors'>
  readonly spec: RouterSpec
  readonly standardisation: Standardisation
}): BatchSource {
  const { dataset, spec, standardisation } = options
  return { spec, standardisation, pairs: dataset.pairs, rows: vectorRows(dataset.vectors) }
}

/**
 * @param slots  one list of pair indices per trajectory, all of that trajectory
 * @param positiveWeight  w(1); w(0) = 1. A pair weighs w(y) / (pairs of its slot * T): each trajectory weighs the same
 */
export function buildBatch(
  source: BatchSource,
  slots: readonly (readonly number[])[],
  options: { readonly positiveWeight: number },
): Batch {
  const T = slots.length
  const P = Math.max(...slots.map((slot) => slot.length))
  const labels = new Float32Array(T * P)
  const weights = new Float32Array(T * P)
  const pairIndex = new Int32Array(T * P).fill(-1)
  slots.forEach((slot, t) => {
    slot.forEach((pair, p) => {
      const label = source.pairs.label[pair] as number
      labels[t * P + p] = label
      weights[t * P + p] = (label === 1 ? options.positiveWeight : 1) / (slot.length * T)
      pairIndex[t * P + p] = pair
    })
  })
  const plans = blocksOf(source.spec)
    .filter((name) => name !== 'x')
    .map((name) => ({ name, slots: slots.map((slot) => planBlock(source.pairs, name, slot)) }))
  const sizes = plans.map((plan) => Math.max(...plan.slots.map((slot) => slot.vectors.length)))
  const N = sizes.reduce((sum, size) => sum + size, 0)
  const selection = new Float32Array(T * P * N)
  const selectionTransposed = new Float32Array(T * N * P)
  let firstColumn = 0
  const blocks = plans.map((plan, b): VectorBlock => {
    const rows = sizes[b] as number
    plan.slots.forEach((slot, t) => {
      for (const { pair, vector, share } of slot.uses) {
        selection[(t * P + pair) * N + firstColumn + vector] = share
        selectionTransposed[(t * N + firstColumn + vector) * P + pair] = share
      }
    })
    firstColumn += rows
    return { name: plan.name, rows, values: fillBlock(source, plan, rows) }
  })
  return {
    trajectories: T,
    pairs: P,
    blocks,
    selection,
    selectionTransposed,
    evidence: fillEvidence(source, pairIndex),
    labels,
    weights,
    pairIndex,
  }
}

/** A vector to be written: the mean of these rows of the vector table; none = the zero vector. */
type VectorPlan = readonly number[]

interface SlotPlan {
  readonly vectors: readonly VectorPlan[]
  /** Pair p of the slot takes `share` of a vector. */
  readonly uses: readonly { readonly pair: number; readonly vector: number; readonly share: number }[]
}

function planBlock(pairs: PairTable, block: VectorBlockName, slot: readonly number[]): SlotPlan {
  if (block === 'm') return planMeans(pairs, slot)
  const column = block === 'h' ? pairs.hRow : pairs.qRow
  return planShared(slot.map((pair) => [column[pair] as number]))
}

/**
 * m as shares of shared neighbours, or, where pairs have neighbours of their own (recipe shared-first: one h per pair),
 * as one vector per pair, whichever needs fewer rows.
 */
function planMeans(pairs: PairTable, slot: readonly number[]): SlotPlan {
  const neighbours = slot.map((pair) => neighbourRows(pairs, pair))
  const shared = planShared(neighbours)
  if (shared.vectors.length <= slot.length) return shared
  return { vectors: neighbours, uses: neighbours.map((_, pair) => ({ pair, vector: pair, share: 1 })) }
}

function planShared(rowsOfPairs: readonly (readonly number[])[]): SlotPlan {
  const vectors: VectorPlan[] = []
  const known = new Map<number, number>()
  const uses = rowsOfPairs.flatMap((rows, pair) =>
    // A pair without neighbours uses the zero vector, which is not 0 once standardised; it is kept under row -1.
    (rows.length === 0 ? [-1] : rows).map((row) => {
      const vector = known.get(row) ?? vectors.push(row < 0 ? [] : [row]) - 1
      known.set(row, vector)
      return { pair, vector, share: 1 / Math.max(1, rows.length) }
    }),
  )
  return { vectors, uses }
}

/** Rows of the vector table whose mean is m of a pair. */
export function neighbourRows(pairs: PairTable, pair: number): readonly number[] {
  return Array.from(pairs.topRows.subarray(pair * pairs.topK, (pair + 1) * pairs.topK)).filter((row) => row >= 0)
}

function fillBlock(
  source: BatchSource,
  plan: { readonly name: VectorBlockName; readonly slots: readonly SlotPlan[] },
  rows: number,
): Float32Array {
  const standardisation = standardisationOf(source, plan.name)
  const d = source.rows.cols
  const values = new Float32Array(plan.slots.length * rows * d)
  const sum = new Float64Array(d)
  plan.slots.forEach((slot, t) => {
    slot.vectors.forEach((members, vector) => {
      const offset = (t * rows + vector) * d
      if (members.length <= 1) {
        source.rows.write(members[0] ?? -1, standardisation, values, offset)
        return
      }
      sum.fill(0)
      for (const row of members) source.rows.add(row, 1, sum)
      for (let k = 0; k < d; k++) {
        const mean = (sum[k] as number) / members.length
        values[offset + k] = (mean - (standardisation.mean[k] as number)) / (standardisation.std[k] as number)
      }
    })
  })
  return values
}

function fillEvidence(source: BatchSource, pairIndex: Int32Array): Float32Array | null {
  if (source.spec.inputs === 'hidden') return null
  const { mean, std } = standardisationOf(source, 'x')
  const { evidence, evidenceSize } = source.pairs
  const values = new Float32Array(pairIndex.length * evidenceSize)
  pairIndex.forEach((pair, row) => {
    if (pair < 0) return
    for (let k = 0; k < evidenceSize; k++)
      values[row * evidenceSize + k] =
        ((evidence[pair * evidenceSize + k] as number) - (mean[k] as number)) / (std[k] as number)
  })
  return values
}

function standardisationOf(source: BatchSource, block: BlockName): BlockStandardisation {
  return invariant(source.standardisation[block], `standardisation holds block ${block}`)
}
