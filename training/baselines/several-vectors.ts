/**
 * Logistic baselines on several of the frozen LM's vectors: what a linear map of the router's own inputs reaches, without
 * and with the Top-4 mean m. Standardised on training rows as the router's inputs are.
 */
import { invariant } from '../../src/errors.ts'
import { createRng, deriveSeed, shuffled } from '../../src/rng.ts'
import { neighbourRows } from '../batch.ts'
import { standardise } from '../standardise.ts'
import { vectorRows } from '../vector-rows.ts'
import type { Baseline, BaselineContext } from './baseline.ts'
import type { DesignMatrix } from './design-matrix.ts'
import { type FactorBlock, factorisedMatrix } from './factorised-matrix.ts'
import { fitSharedRows } from './shared-rows.ts'

type VectorBlock = 'h' | 'q' | 'm'

/** Distinct vectors used for fitting, about: time stays bounded at any number of pairs. */
const MAX_TRAINING_VECTORS = 8192
/** Its row of a table is the zero vector: m of a pair without neighbours. */
const ZERO_ROW = -1

export const HQ_ONLY: Baseline = {
  name: 'hq-only',
  description: 'logistic regression on [h; q], without the Top-4 mean m',
  probabilistic: true,
  fit: (context) => fitVectors(context, ['h', 'q']),
}

export const HQM_LR: Baseline = {
  name: 'hqm-lr',
  description: "logistic regression on [h; q; m], the paper's inputs without a hidden layer",
  probabilistic: true,
  fit: (context) => fitVectors(context, ['h', 'q', 'm']),
}

function fitVectors(context: BaselineContext, blocks: readonly VectorBlock[]): ReturnType<Baseline['fit']> {
  const { dataset } = context
  const train = thinned(context, blocks)
  const spec = { inputs: 'hidden', hiddenSize: dataset.vectors.cols, evidenceSize: 0, width: 0, dropout: 0 } as const
  const standardisation = standardise({
    dataset,
    spec,
    trajectories: listsBy(context.dataset.pairs.trajectory, train),
    positiveWeight: 1,
  })
  const matrixOf = (pairs: readonly number[]): DesignMatrix => {
    const rows = vectorRows(dataset.vectors)
    try {
      const tables = blocks.map((block): FactorBlock => {
        const own = invariant(standardisation[block], `block ${block} is standardised`)
        const { distinct, starts, uses } = usesOf(pairs, (pair) => rowsOf(context, block, pair))
        const vectors = new Float32Array(distinct.length * rows.cols)
        distinct.forEach((row, at) => {
          rows.write(row, own, vectors, at * rows.cols)
        })
        return { vectors, cols: rows.cols, starts, uses }
      })
      return factorisedMatrix(pairs.length, tables)
    } finally {
      rows.close()
    }
  }
  const informative = new Set(Array.from(train, (pair) => dataset.pairs.hRow[pair])).size
  return fitSharedRows({ ...context, train }, { keyOf: (pair) => pair, matrixOf, totalWeight: informative })
}

function rowsOf({ dataset: { pairs } }: BaselineContext, block: VectorBlock, pair: number): readonly number[] {
  if (block === 'h') return [pairs.hRow[pair] ?? 0]
  if (block === 'q') return [pairs.qRow[pair] ?? 0]
  const neighbours = neighbourRows(pairs, pair)
  return neighbours.length === 0 ? [ZERO_ROW] : neighbours
}

function usesOf(
  pairs: readonly number[],
  rows: (pair: number) => readonly number[],
): { readonly distinct: readonly number[]; readonly starts: Uint32Array; readonly uses: Uint32Array } {
  const known = new Map<number, number>()
  const starts = new Uint32Array(pairs.length + 1)
  const uses: number[] = []
  pairs.forEach((pair, at) => {
    for (const row of rows(pair)) {
      const use = known.get(row) ?? known.size
      known.set(row, use)
      uses.push(use)
    }
    starts[at + 1] = uses.length
  })
  return { distinct: [...known.keys()], starts, uses: Uint32Array.from(uses) }
}

/** Whole checkpoints in seeded order, until the vectors that their pairs need are enough. */
function thinned(context: BaselineContext, blocks: readonly VectorBlock[]): Int32Array {
  const { dataset, train, seed } = context
  const checkpoints = listsBy(dataset.pairs.qRow, train)
  const kept = new Set<number>()
  const vectors = new Set<string>()
  for (const pairs of shuffled(checkpoints, createRng(deriveSeed(seed, 'several-vectors')))) {
    for (const pair of pairs) {
      kept.add(pair)
      for (const block of blocks) for (const row of rowsOf(context, block, pair)) vectors.add(`${block}${row}`)
    }
    if (vectors.size >= MAX_TRAINING_VECTORS) break
  }
  return train.filter((pair) => kept.has(pair))
}

/** Rows with the same value of a column, in the order in which the values first come. */
function listsBy(column: Int32Array, rows: Int32Array): readonly (readonly number[])[] {
  const lists = new Map<number, number[]>()
  for (const row of rows) {
    const value = column[row] ?? 0
    const list = lists.get(value)
    if (list === undefined) lists.set(value, [row])
    else list.push(row)
  }
  return [...lists.values()]
}
