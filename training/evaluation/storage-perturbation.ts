/**
 * What storing vectors as f16 costs in decisions: a sample of held-out checkpoints is scored on the vectors as they are
 * stored and on vectors that differ by f16 rounding. f32 vectors are rounded to f16; of f16 vectors the lost part is
 * unknown, so each value moves at random inside the interval that rounds to it.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { openVectorReader } from '../../data/store/vector-reader.ts'
import { createScorer, type ScoreInputs } from '../../models/router/scorer.ts'
import type { RouterParameters, RouterSpec } from '../../models/router/spec.ts'
import { stabilityOf } from '../../src/metrics/margin-stability.ts'
import { createRng, deriveSeed, type Rng, shuffled } from '../../src/rng.ts'
import { decodeF16, encodeF16 } from '../../src/tensor/half.ts'
import { createMatrix, type Matrix } from '../../src/tensor/matrix.ts'
import { neighbourRows } from '../batch.ts'
import { type StudiedRotation, thresholdAt } from './router-study.ts'
import type { MeasuredPerturbation } from './router-study-record.ts'

/** Some hundred pairs per rotation: shares are known to a percent or so. */
const CHECKPOINTS_PER_ROTATION = 12

export interface RotationModel {
  readonly spec: RouterSpec
  /** Standardisation is folded in: they take raw vectors. */
  readonly parameters: RouterParameters
}

export interface StorageQuery {
  readonly dataset: Dataset
  readonly rotations: readonly StudiedRotation[]
  readonly point: string
  readonly modelOf: (rotation: number) => RotationModel
  readonly seed: number
}

/** @returns null where no rotation has a threshold, or the router reads no vectors */
export async function storagePerturbation(query: StorageQuery): Promise<MeasuredPerturbation | null> {
  const a: number[] = []
  const b: number[] = []
  let dtype = 'f32'
  const reader = openVectorReader(query.dataset.vectors)
  try {
    const rng = createRng(deriveSeed(query.seed, 'storage-perturbation'))
    const stored = (row: number): Float32Array => {
      const values = reader.read(row)
      if (values instanceof Uint16Array) dtype = 'f16'
      return values instanceof Uint16Array ? decodeF16(values) : values.slice()
    }
    const moved = (row: number): Float32Array =>
      reader.read(row) instanceof Uint16Array ? unrounded(stored(row), rng) : decodeF16(encodeF16(stored(row)))
    for (const rotation of query.rotations) {
      const tau = thresholdAt(rotation, query.point)
      if (tau === null) continue
      const model = query.modelOf(rotation.scores.test.rotation)
      if (model.spec.inputs === 'evidence') return null
      const scorer = createScorer(model)
      try {
        for (const pairs of sampledCheckpoints(query.dataset, rotation, rng)) {
          const before = await scorer.score(inputsOf(query.dataset, pairs, stored))
          const after = await scorer.score(inputsOf(query.dataset, pairs, memoised(moved)))
          for (const logit of before.logits) a.push(logit - tau)
          for (const logit of after.logits) b.push(logit - tau)
        }
      } finally {
        await scorer.close()
      }
    }
  } finally {
    reader.close()
  }
  if (a.length === 0) return null
  return {
    name: 'f16-storage',
    description:
      dtype === 'f32'
        ? 'the same model on vectors as stored (f32) and rounded to f16'
        : 'the same model on vectors as stored (f16) and with each value moved at random inside its rounding interval',
    ...stabilityOf(Float64Array.from(a), Float64Array.from(b)),
  }
}

/** The headline pairs of a seeded sample of the rotation's test checkpoints. */
function sampledCheckpoints(
  { pairs }: Dataset,
  { scores: { test } }: StudiedRotation,
  rng: Rng,
): readonly (readonly number[])[] {
  const checkpoints = new Map<number, number[]>()
  test.rows.forEach((pair, row) => {
    if (test.subsets.headline.mask[row] === 0) return
    const key = pairs.qRow[pair] ?? 0
    const list = checkpoints.get(key)
    if (list === undefined) checkpoints.set(key, [pair])
    else list.push(pair)
  })
  return shuffled([...checkpoints.values()], rng).slice(0, CHECKPOINTS_PER_ROTATION)
}

function inputsOf(
  { pairs, vectors }: Dataset,
  chosen: readonly number[],
  vector: (row: number) => Float32Array,
): ScoreInputs {
  const h = createMatrix(chosen.length, vectors.cols)
  const m = createMatrix(chosen.length, vectors.cols)
  const x = createMatrix(chosen.length, pairs.evidenceSize)
  chosen.forEach((pair, at) => {
    h.data.set(vector(pairs.hRow[pair] ?? 0), at * vectors.cols)
    x.data.set(pairs.evidence.subarray(pair * pairs.evidenceSize, (pair + 1) * pairs.evidenceSize), at * x.cols)
    writeMean(m, at, neighbourRows(pairs, pair).map(vector))
  })
  return { h, m, x, q: vector(pairs.qRow[chosen[0] ?? 0] ?? 0).slice() }
}

function writeMean(out: Matrix, row: number, vectors: readonly Float32Array[]): void {
  for (let k = 0; k < out.cols; k++)
    out.data[row * out.cols + k] = vectors.reduce((sum, vector) => sum + (vector[k] ?? 0) / vectors.length, 0)
}

/** A vector moves once, whichever pairs use it. */
function memoised(vector: (row: number) => Float32Array): (row: number) => Float32Array {
  const known = new Map<number, Float32Array>()
  return (row) => {
    const found = known.get(row) ?? vector(row)
    known.set(row, found)
    return found
  }
}

function unrounded(values: Float32Array, rng: Rng): Float32Array {
  return values.map((value) => value + (rng.nextFloat() - 0.5) * f16Spacing(value))
}

/** Distance of neighbouring f16 numbers: 11 significant bits, 2^-24 among the subnormal ones. */
function f16Spacing(value: number): number {
  return 2 ** Math.max(-24, Math.floor(Math.log2(Math.abs(value))) - 10)
}
