/**
 * The block x(i,c): what an observer of the prefix can compute without any model (DESIGN section 8, `evidence`). Pure.
 * One code for trainer and server: nothing at or after checkpoint c is looked at.
 */
import type { Trajectory } from '../trajectory/trajectory.ts'
import { prefixAt } from '../trajectory/trajectory.ts'
import { buildLiteralIndex, type LiteralIndex, lastTouchBefore } from './literal-index.ts'

/**
 * Columns of x, in order. log = ln(1 + value). Steps and ages count canonical interactions.
 * Source: reference/feasibility.md of the project ("x as measured"), age, position and length added by DESIGN section 8.
 */
export const EVIDENCE_NAMES = [
  'age',
  'log_age',
  'relative_position',
  'log_source_chars',
  'log_introduced',
  'share_taken_up',
  'any_uptake',
  'log_uses',
  'log_users',
  'since_last_use',
  'log_since_last_use',
  'used_by_newest',
  'log_restated_by_newest',
  'log_restated',
] as const satisfies readonly string[]

export interface EvidenceBlock {
  /** Canonical indices of the targets, ascending: the order of targetsAt. */
  readonly interactions: readonly number[]
  /** (interactions.length, EVIDENCE_NAMES.length) f32, row-major. */
  readonly values: Float32Array
}

/** x of every target of a checkpoint; of the trajectory only the prefix at c is read. */
export function evidenceFeatures(trajectory: Trajectory, checkpoint: number): EvidenceBlock {
  return evidenceFeaturesFrom(buildLiteralIndex(prefixAt(trajectory, checkpoint)), checkpoint)
}

/**
 * The same numbers from an index of the whole run, for many checkpoints of one run.
 * @param index of the trajectory or of any of its prefixes that reaches the checkpoint
 */
export function evidenceFeaturesFrom(index: LiteralIndex, checkpoint: number): EvidenceBlock {
  const newest = positionsBefore(index, checkpoint) - 1
  const width = EVIDENCE_NAMES.length
  const count = Math.max(0, newest)
  const values = new Float32Array(count * width)
  for (let source = 0; source < count; source++)
    values.set(rowOf(index, { source, newest, checkpoint }), source * width)
  return { interactions: index.canonical.slice(0, count), values }
}

/** How many surviving interactions have a canonical index below the checkpoint. */
function positionsBefore(index: LiteralIndex, checkpoint: number): number {
  let count = index.canonical.length
  while (count > 0 && (index.canonical[count - 1] ?? 0) >= checkpoint) count--
  return count
}

function rowOf(
  index: LiteralIndex,
  at: { readonly source: number; readonly newest: number; readonly checkpoint: number },
): readonly number[] {
  const canonical = index.canonical[at.source] ?? 0
  const introduced = index.introduced[at.source]?.length ?? 0
  const touch = lastTouchBefore(index, at.source, at.newest + 1)
  const byNewest = touch?.position === at.newest ? touch : undefined
  const age = at.checkpoint - canonical
  const lastUser = touch === undefined || touch.lastUser < 0 ? undefined : index.canonical[touch.lastUser]
  // Never used: as long ago as the interaction is old, so that the column stays monotone in staleness.
  const sinceLastUse = lastUser === undefined ? age : at.checkpoint - lastUser
  return [
    age,
    Math.log1p(age),
    canonical / at.checkpoint,
    Math.log1p(index.sourceChars[at.source] ?? 0),
    Math.log1p(introduced),
    introduced === 0 ? 0 : (touch?.takenUp ?? 0) / introduced,
    lastUser === undefined ? 0 : 1,
    Math.log1p(touch?.usedTotal ?? 0),
    Math.log1p(touch?.users ?? 0),
    sinceLastUse,
    Math.log1p(sinceLastUse),
    byNewest !== undefined && byNewest.used > 0 ? 1 : 0,
    Math.log1p(byNewest?.restated ?? 0),
    Math.log1p(touch?.restatedTotal ?? 0),
  ]
}
