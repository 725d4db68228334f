/**
 * When each interaction is first called READY, beside the boundary where it becomes so.
 */
import type { PairTable } from '../../data/store/dataset.ts'
import type { SubsetName } from './evaluation-record.ts'
import type { RotationTest } from './rotation-test.ts'

export interface ThresholdQuery {
  readonly test: RotationTest
  readonly pairs: PairTable
  /** (rows) */
  readonly scores: Float64Array
  /** null selects nothing. */
  readonly tau: number | null
  readonly subset: SubsetName
}

/** One interaction of one test run. */
export interface InteractionFate {
  readonly group: number
  /** -1: never READY. */
  readonly boundary: number
  /** Checkpoint of the first call; null: never called READY at a checkpoint that the sub-set shows. */
  readonly first: number | null
  /** Its boundary is among the checkpoints that the sub-set shows. */
  readonly becomesReady: boolean
}

export function firstSelections({ test, pairs, scores, tau, subset }: ThresholdQuery): readonly InteractionFate[] {
  const { mask } = test.subsets[subset]
  let stride = 1
  for (const pair of test.rows) stride = Math.max(stride, 1 + (pairs.interaction[pair] ?? 0))
  const fates = new Map<number, { -readonly [Key in keyof InteractionFate]: InteractionFate[Key] }>()
  for (let row = 0; row < scores.length; row++) {
    if (mask[row] === 0) continue
    const pair = test.rows[row] ?? 0
    const key = (test.run[row] ?? 0) * stride + (pairs.interaction[pair] ?? 0)
    let fate = fates.get(key)
    if (fate === undefined) {
      const boundary = pairs.boundary[pair] ?? -1
      fate = { group: test.group[row] ?? 0, boundary, first: null, becomesReady: false }
      fates.set(key, fate)
    }
    const checkpoint = pairs.checkpoint[pair] ?? 0
    if (test.labels[row] === 1) fate.becomesReady = true
    if (tau !== null && (scores[row] ?? 0) >= tau && (fate.first === null || checkpoint < fate.first))
      fate.first = checkpoint
  }
  return [...fates.values()]
}

/** First called READY at or after its boundary. */
export function isTimely(fate: InteractionFate): boolean {
  return fate.first !== null && fate.boundary !== -1 && fate.first >= fate.boundary
}
