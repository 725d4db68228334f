/**
 * Probe rows of an artefact: pairs of the final model's validation part as a server would feed them, with the logits that
 * the trainer computed from standardised batches.
 */
import type { Dataset } from '../data/store/dataset.ts'
import type { PairPredictions } from '../models/router/manifest.ts'
import { blocksOf } from '../models/router/parameters.ts'
import { PROBE_ROWS, type ProbeRows } from '../models/router/probe.ts'
import { type BlockName, blockSize, type RouterSpec } from '../models/router/spec.ts'
import { createMatrix, rowOf } from '../src/tensor/matrix.ts'
import { neighbourRows } from './batch.ts'
import { type VectorRows, vectorRows } from './vector-rows.ts'

/** @param predictions evenly spread ones of them are taken, PROBE_ROWS at most */
export function probeRows(dataset: Dataset, spec: RouterSpec, predictions: PairPredictions): ProbeRows {
  const count = Math.min(PROBE_ROWS, predictions.pairs.length)
  const picked = Array.from({ length: count }, (_, i) => Math.floor((i * predictions.pairs.length) / count))
  const pairs = picked.map((at) => predictions.pairs[at] as number)
  return {
    pairs,
    inputs: pairInputs(dataset, spec, pairs),
    logits: Float32Array.from(picked, (at) => predictions.logits[at] as number),
  }
}

/** Raw inputs of pairs: (pairs, block size) for each block of the spec. */
export function pairInputs(dataset: Dataset, spec: RouterSpec, pairs: readonly number[]): ProbeRows['inputs'] {
  const rows = vectorRows(dataset.vectors)
  return Object.fromEntries(
    blocksOf(spec).map((block) => {
      const matrix = createMatrix(pairs.length, blockSize(spec, block))
      pairs.forEach((pair, i) => {
        rowOf(matrix, i).set(inputOf(dataset, rows, block, pair))
      })
      return [block, matrix]
    }),
  )
}

function inputOf(dataset: Dataset, rows: VectorRows, block: BlockName, pair: number): ArrayLike<number> {
  const { pairs } = dataset
  if (block === 'x') return pairs.evidence.subarray(pair * pairs.evidenceSize, (pair + 1) * pairs.evidenceSize)
  const members =
    block === 'm' ? neighbourRows(pairs, pair) : [(block === 'h' ? pairs.hRow : pairs.qRow)[pair] as number]
  const sum = new Float64Array(rows.cols)
  for (const row of members) rows.add(row, 1, sum)
  return sum.map((value) => value / Math.max(1, members.length))
}
