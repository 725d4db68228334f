/**
 * What a dataset holds once read: the only shape that training and evaluation see (DESIGN section 12).
 */

import type { Representation, StorageDtype } from '../../models/frozen-lm/representation.ts'
import type { RecipeName } from '../../src/view/recipe.ts'
import type { GroupMerge } from '../near-duplicates.ts'

export interface DatasetTrajectory {
  readonly id: string
  readonly group: string
  readonly domain: string
  /** N: number of interactions. */
  readonly length: number
}

/** Columns of pairs.arrow; every array has one entry per pair (i, c), in trajectory, checkpoint, interaction order. */
export interface PairTable {
  readonly count: number
  /** Index into `trajectories`. */
  readonly trajectory: Int32Array
  /** i and c, canonical. */
  readonly interaction: Int32Array
  readonly checkpoint: Int32Array
  /** 1 = READY, 0 = KEEP. */
  readonly label: Uint8Array
  /** N - c: how much future the label could see. */
  readonly futureInteractions: Int32Array
  /** Boundary b_i of the interaction, -1 if none. */
  readonly boundary: Int32Array
  /** Row of h(i[,c]) and q(c) in the vector table. */
  readonly hRow: Int32Array
  readonly qRow: Int32Array
  /** (count, topK) rows whose mean is m; -1 fills up when fewer exist. */
  readonly topRows: Int32Array
  readonly topK: number
  /** Source tokens of S_i by the frozen LM's tokenizer and by the acting model's (o200k estimate). */
  readonly sourceTokens: Int32Array
  readonly actingTokens: Int32Array
  readonly viewTokens: Int32Array
  readonly truncatedTokens: Int32Array
  /** (count, evidenceSize) f32 row-major: x(i,c). */
  readonly evidence: Float32Array
  readonly evidenceSize: number
}

/** All h and q vectors, (rows, cols = d), in their storage dtype. `openVectorReader` reads rows of either kind. */
export type VectorTable = MemoryVectors | FileVectors

interface WithheldRows {
  /** (rows) 1 = reading the row throws: it belongs to a group that may not be looked at yet (withhold-groups.ts). */
  readonly withheld?: Uint8Array
}

/** f16 bits in a Uint16Array, or f32. */
export interface MemoryVectors extends WithheldRows {
  readonly kind: 'memory'
  readonly rows: number
  readonly cols: number
  readonly data: Uint16Array | Float32Array
}

/** Rows stay in vectors.arrow and are read by position; what processes share is the page cache. */
export interface FileVectors extends WithheldRows {
  readonly kind: 'file'
  readonly rows: number
  readonly cols: number
  readonly dtype: StorageDtype
  readonly path: string
  /** One entry per record batch: its first row, and where the bytes of that row start in the file. */
  readonly firstRows: Int32Array
  readonly offsets: Float64Array
}

export interface DatasetManifest {
  readonly schemaVersion: number
  readonly representationId: string
  readonly representation: Representation
  readonly recipe: RecipeName
  readonly evidenceNames: readonly string[]
  readonly maxCheckpointsPerRun: number
  readonly seed: number
  /** SHA-256 of runs.jsonl, labels.jsonl as given, and of each file written. */
  readonly inputs: { readonly runsSha256: string; readonly labelsSha256: string }
  readonly files: Readonly<Record<string, string>>
  /**
   * Groups of the runs that are one group here, because their runs are near copies; trajectories and pairs carry the merged
   * name, trajectories.jsonl the runs' own. Absent in datasets from before near copies were looked for.
   */
  readonly groupMerges?: readonly GroupMerge[]
  readonly counts: {
    readonly trajectories: number
    readonly groups: number
    readonly pairs: number
    readonly ready: number
    readonly vectors: number
    readonly computedTokens: number
  }
}

export interface Dataset {
  readonly directory: string
  readonly manifest: DatasetManifest
  readonly trajectories: readonly DatasetTrajectory[]
  readonly pairs: PairTable
  readonly vectors: VectorTable
}
