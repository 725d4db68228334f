/**
 * The vectors of one trajectory as columns: what a `.part` file and a record batch of vectors.arrow hold.
 */

import type { Extraction } from '../../models/frozen-lm/extraction.ts'
import type { Representation, StorageDtype } from '../../models/frozen-lm/representation.ts'
import { AppError, invariant } from '../../src/errors.ts'
import { decodeF16, encodeF16 } from '../../src/tensor/half.ts'
import type { Matrix } from '../../src/tensor/matrix.ts'
import type { ColumnBatch, ColumnKinds } from './arrow-file.ts'

export const VECTOR_ROLES = ['h', 'q'] as const

/** Rows in canonical order: by checkpoint (none first), h before q, by interaction. -1 = none. */
export interface TrajectoryVectors {
  readonly rows: number
  readonly cols: number
  /** Of q(c) and h(i,c); -1 for h(i) of recipe `once`. */
  readonly checkpoint: Int32Array
  /** Index into VECTOR_ROLES. */
  readonly role: Int32Array
  /** Of h; -1 for q. */
  readonly interaction: Int32Array
  readonly viewTokens: Int32Array
  readonly truncatedTokens: Int32Array
  /** Tokens of the whole interaction by the frozen LM's tokenizer; -1 for q. */
  readonly sourceTokens: Int32Array
  /** (rows, cols) in the storage dtype. */
  readonly values: Uint16Array | Float32Array
}

/**
 * Puts an extraction into its canonical order and storage dtype.
 * @throws invariant when a vector has another length than the representation says
 * @throws output-not-finite when a value is not finite or does not fit f16
 */
export function toTrajectoryVectors(extraction: Extraction, representation: Representation): TrajectoryVectors {
  const cols = representation.model.hiddenSize
  const ordered = [...extraction.vectors].sort(
    (a, b) =>
      (a.checkpoint ?? -1) - (b.checkpoint ?? -1) ||
      VECTOR_ROLES.indexOf(a.role) - VECTOR_ROLES.indexOf(b.role) ||
      (a.interaction ?? -1) - (b.interaction ?? -1),
  )
  const values = new Float32Array(ordered.length * cols)
  ordered.forEach((vector, row) => {
    if (vector.values.length !== cols)
      throw new AppError('invariant', `a hidden state has ${vector.values.length} values, the model has ${cols}`)
    values.set(vector.values, row * cols)
  })
  return {
    rows: ordered.length,
    cols,
    checkpoint: Int32Array.from(ordered, (vector) => vector.checkpoint ?? -1),
    role: Int32Array.from(ordered, (vector) => VECTOR_ROLES.indexOf(vector.role)),
    interaction: Int32Array.from(ordered, (vector) => vector.interaction ?? -1),
    viewTokens: Int32Array.from(ordered, (vector) => vector.viewTokens),
    truncatedTokens: Int32Array.from(ordered, (vector) => vector.truncatedTokens),
    sourceTokens: Int32Array.from(ordered, (vector) =>
      vector.interaction === null
        ? -1
        : invariant(extraction.interactionTokens[vector.interaction], 'every interaction has a token count'),
    ),
    values: narrow(values, representation.storageDtype),
  }
}

function narrow(values: Float32Array, dtype: StorageDtype): Uint16Array | Float32Array {
  if (dtype === 'f16') return encodeF16(values)
  const wrong = values.findIndex((value) => !Number.isFinite(value))
  if (wrong !== -1) throw new AppError('output-not-finite', `a hidden state holds ${values[wrong]}`)
  return values
}

/** The stored vectors as f32, (rows, cols). */
export function widen(vectors: TrajectoryVectors): Matrix {
  const { values, rows, cols } = vectors
  return { data: values instanceof Uint16Array ? decodeF16(values) : values, rows, cols }
}

/** @param ids of all trajectories of the file: the names of its column `trajectory` */
export function vectorColumns(ids: readonly string[], dtype: StorageDtype, cols: number): ColumnKinds {
  return {
    trajectory: { kind: 'name', names: ids },
    checkpoint: { kind: 'i32' },
    role: { kind: 'name', names: VECTOR_ROLES },
    interaction: { kind: 'i32' },
    view_tokens: { kind: 'i32' },
    truncated_tokens: { kind: 'i32' },
    source_tokens: { kind: 'i32' },
    vector: { kind: 'list', item: dtype, length: cols },
  }
}

export function toVectorBatch(vectors: TrajectoryVectors, trajectory: number): ColumnBatch {
  return {
    trajectory: new Int32Array(vectors.rows).fill(trajectory),
    checkpoint: vectors.checkpoint,
    role: vectors.role,
    interaction: vectors.interaction,
    view_tokens: vectors.viewTokens,
    truncated_tokens: vectors.truncatedTokens,
    source_tokens: vectors.sourceTokens,
    vector: vectors.values,
  }
}

/** The inverse; the kinds were checked when the file was opened. */
export function fromVectorBatch(columns: ColumnBatch, rows: number, cols: number): TrajectoryVectors {
  const values = columns.vector
  return {
    rows,
    cols,
    checkpoint: columns.checkpoint as Int32Array,
    role: columns.role as Int32Array,
    interaction: columns.interaction as Int32Array,
    viewTokens: columns.view_tokens as Int32Array,
    truncatedTokens: columns.truncated_tokens as Int32Array,
    sourceTokens: columns.source_tokens as Int32Array,
    values: values as Uint16Array | Float32Array,
  }
}
