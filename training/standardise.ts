/**
 * Mean and standard deviation of every input dimension over training pairs, each pair weighing as in the loss.
 */
import type { Dataset } from '../data/store/dataset.ts'
import { blocksOf } from '../models/router/parameters.ts'
import type { BlockName, RouterSpec } from '../models/router/spec.ts'
import type { BlockStandardisation, Standardisation } from '../models/router/standardisation.ts'
import { neighbourRows } from './batch.ts'
import { type VectorRows, vectorRows } from './vector-rows.ts'

/** A dimension that varies less than this is centred only (DESIGN section 8). */
const MIN_STD = 1e-6

interface WeightedPair {
  readonly pair: number
  /** All weights sum to 1. */
  readonly weight: number
}

/**
 * @param trajectories  training pairs, one list per trajectory; each trajectory weighs the same
 * @param positiveWeight  w(1) of the loss
 * @param hiddenScale  standard deviation that h, q and m get, default 1; x always gets 1. AdamW moves every weight at
 *   the same pace, so thousands of hidden dimensions beside a dozen features learn by heart before the features are
 *   heard; at scale s they start s times as loud and learn s times as fast. Folded away on export like the rest.
 */
export function standardise(options: {
  readonly dataset: Pick<Dataset, 'pairs' | 'vectors'>
  readonly spec: RouterSpec
  readonly trajectories: readonly (readonly number[])[]
  readonly positiveWeight: number
  readonly hiddenScale?: number
}): Standardisation {
  const { dataset, spec, hiddenScale = 1 } = options
  const weighted = pairWeights(options)
  const rows = vectorRows(dataset.vectors)
  try {
    return Object.fromEntries(
      blocksOf(spec).map((block) => {
        const { mean, std } = standardiseBlock(dataset, rows, block, weighted)
        const scale = block === 'x' ? 1 : hiddenScale
        return [block, { mean, std: std.map((value) => value / scale) }]
      }),
    )
  } finally {
    rows.close()
  }
}

function pairWeights(options: Parameters<typeof standardise>[0]): readonly WeightedPair[] {
  const { dataset, trajectories, positiveWeight } = options
  const raw = trajectories.flatMap((pairs) =>
    pairs.map((pair) => ({ pair, weight: (dataset.pairs.label[pair] === 1 ? positiveWeight : 1) / pairs.length })),
  )
  const total = raw.reduce((sum, { weight }) => sum + weight, 0)
  return raw.map(({ pair, weight }) => ({ pair, weight: weight / total }))
}

function standardiseBlock(
  dataset: Pick<Dataset, 'pairs'>,
  rows: VectorRows,
  block: BlockName,
  weighted: readonly WeightedPair[],
): BlockStandardisation {
  const { pairs } = dataset
  if (block === 'x') {
    const size = pairs.evidenceSize
    return moments(size, (visit) => {
      for (const { pair, weight } of weighted)
        visit(weight, (sum) => {
          for (let k = 0; k < size; k++) sum[k] = pairs.evidence[pair * size + k] as number
        })
    })
  }
  if (block === 'm') {
    // From one checkpoint to the next most neighbours stay: their mean is taken once.
    const means = new Map<string, { readonly neighbours: readonly number[]; weight: number }>()
    for (const { pair, weight } of weighted) {
      const neighbours = neighbourRows(pairs, pair)
      const key = neighbours.join()
      const known = means.get(key)
      if (known === undefined) means.set(key, { neighbours, weight })
      else known.weight += weight
    }
    return moments(rows.cols, (visit) => {
      for (const { neighbours, weight } of means.values())
        visit(weight, (sum) => {
          for (const row of neighbours) rows.add(row, 1 / neighbours.length, sum)
        })
    })
  }
  const column = block === 'h' ? pairs.hRow : pairs.qRow
  const rowWeights = new Map<number, number>()
  for (const { pair, weight } of weighted) {
    const row = column[pair] as number
    rowWeights.set(row, (rowWeights.get(row) ?? 0) + weight)
  }
  return moments(rows.cols, (visit) => {
    for (const [row, weight] of rowWeights) visit(weight, (sum) => rows.add(row, 1, sum))
  })
}

/** Adds a sample to `sum`, which holds zeros. */
type WriteSample = (sum: Float64Array) => void

/** Two passes in f64 over the same weighted samples: mean, then variance about it. */
function moments(
  size: number,
  walk: (visit: (weight: number, write: WriteSample) => void) => void,
): BlockStandardisation {
  const mean = new Float64Array(size)
  const variance = new Float64Array(size)
  const sample = new Float64Array(size)
  walk((weight, write) => {
    write(sample.fill(0))
    for (let k = 0; k < size; k++) mean[k] = (mean[k] as number) + weight * (sample[k] as number)
  })
  walk((weight, write) => {
    write(sample.fill(0))
    for (let k = 0; k < size; k++)
      variance[k] = (variance[k] as number) + weight * ((sample[k] as number) - (mean[k] as number)) ** 2
  })
  return { mean, std: variance.map((value) => (Math.sqrt(value) < MIN_STD ? 1 : Math.sqrt(value))) }
}
