/**
 * Baselines on one of the frozen LM's vectors alone: h-only knows the interaction and not the state, q-only the state
 * and not the interaction (so inside one checkpoint it cannot rank at all). Logistic, standardised on training rows.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { openVectorReader, type VectorReader } from '../../data/store/vector-reader.ts'
import { createRng, deriveSeed, shuffled } from '../../src/rng.ts'
import { decodeF16 } from '../../src/tensor/half.ts'
import type { Baseline, BaselineContext } from './baseline.ts'
import { denseMatrix } from './design-matrix.ts'
import { fitSharedRows } from './shared-rows.ts'

/** Vectors used for fitting: time stays bounded when each pair has its own h (recipe shared-first). */
const MAX_TRAINING_VECTORS = 8192

export const H_ONLY: Baseline = {
  name: 'h-only',
  description: 'logistic regression on the interaction vector h alone',
  probabilistic: true,
  fit: (context) => fitOneVector(context, 'hRow'),
}

export const Q_ONLY: Baseline = {
  name: 'q-only',
  description: 'logistic regression on the state vector q alone',
  probabilistic: true,
  fit: (context) => fitOneVector(context, 'qRow'),
}

function fitOneVector(context: BaselineContext, column: 'hRow' | 'qRow'): ReturnType<Baseline['fit']> {
  const { dataset } = context
  const rowOf = dataset.pairs[column]
  const keyOf = (pair: number): number => rowOf[pair] ?? 0
  const train = thinned(context, keyOf)
  const { mean, scale } = withReader(dataset, (reader) =>
    standardisation(reader, [...new Set(Array.from(train, keyOf))]),
  )
  return fitSharedRows(
    { ...context, train },
    {
      keyOf,
      matrixOf(rows) {
        const { cols } = dataset.vectors
        const data = new Float32Array(rows.length * cols)
        withReader(dataset, (reader) => {
          rows.forEach((row, r) => {
            const vector = vectorAt(reader, row)
            for (let k = 0; k < cols; k++) data[r * cols + k] = ((vector[k] ?? 0) - (mean[k] ?? 0)) * (scale[k] ?? 1)
          })
        })
        return denseMatrix(data, rows.length, cols)
      },
    },
  )
}

/** The training pairs of a seeded sample of vectors. */
function thinned(context: BaselineContext, keyOf: (pair: number) => number): Int32Array {
  const keys = [...new Set(Array.from(context.train, keyOf))]
  if (keys.length <= MAX_TRAINING_VECTORS) return context.train
  const rng = createRng(deriveSeed(context.seed, 'one-vector'))
  const kept = new Set(shuffled(keys, rng).slice(0, MAX_TRAINING_VECTORS))
  return context.train.filter((pair) => kept.has(keyOf(pair)))
}

function standardisation(
  reader: VectorReader,
  rows: readonly number[],
): { readonly mean: Float64Array; readonly scale: Float64Array } {
  const { cols } = reader
  const mean = new Float64Array(cols)
  const square = new Float64Array(cols)
  for (const row of rows) {
    const vector = vectorAt(reader, row)
    for (let k = 0; k < cols; k++) {
      const value = vector[k] ?? 0
      mean[k] = (mean[k] ?? 0) + value / rows.length
      square[k] = (square[k] ?? 0) + (value * value) / rows.length
    }
  }
  const scale = square.map((value, k) => {
    const deviation = Math.sqrt(Math.max(0, value - (mean[k] ?? 0) ** 2))
    return deviation < 1e-6 ? 1 : 1 / deviation
  })
  return { mean, scale }
}

/** Valid until the next call. */
function vectorAt(reader: VectorReader, row: number): Float32Array {
  const stored = reader.read(row)
  return stored instanceof Uint16Array ? decodeF16(stored) : stored
}

function withReader<T>(dataset: Dataset, use: (reader: VectorReader) => T): T {
  const reader = openVectorReader(dataset.vectors)
  try {
    return use(reader)
  } finally {
    reader.close()
  }
}
