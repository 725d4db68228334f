/** From the rows that are wanted and the grid to the arms that have to run, each once however many rows read it. Pure. */
import { AppError } from '../../src/errors.ts'
import type { OwnArmSpec } from './bench-protocol.ts'
import { type ArmKey, type BenchRow, type Cell, keyText, PEERS } from './bench-record.ts'
import { type ScheduleOptions, spreadViews } from './bench-schedule.ts'
import type { WeightsMode } from './execution.ts'
import type { Device } from './port.ts'

export interface BenchGrid {
  /** Every combination is a cell; the first of each is what the single figures are about. */
  readonly sharedTokens: readonly number[]
  readonly targetCounts: readonly number[]
  readonly targetTokens: readonly number[]
  /** Lengths of the full contexts. */
  readonly histories: readonly number[]
  readonly prefillLengths: readonly number[]
  /** Views that the naive arms and peers run of each checkpoint. */
  readonly views: number
}

export interface PlannedArm {
  readonly key: ArmKey
  /** Null for a peer's. */
  readonly spec: OwnArmSpec | null
  readonly repeats: number
}

export interface PlanOptions {
  readonly directory: string
  readonly layer: number
  readonly device?: Device | undefined
  readonly weights?: WeightsMode | undefined
  readonly seed: number
  readonly repeats: number
  readonly grid: BenchGrid
  readonly rows: readonly BenchRow[]
}

export function cellsOf(grid: BenchGrid): readonly Cell[] {
  return grid.sharedTokens.flatMap((sharedTokens) =>
    grid.targetTokens.flatMap((targetTokens) =>
      grid.targetCounts.map((targetCount) => ({ sharedTokens, targetCount, targetTokens })),
    ),
  )
}

/** What one pass over a long history costs minutes; its few runs are counted on the card. */
export function repeatsOfHistory(historyTokens: number, repeats: number): number {
  if (historyTokens > 8192) return Math.min(repeats, 2)
  return historyTokens > 4096 ? Math.min(repeats, 3) : repeats
}

export function planArms(options: PlanOptions): readonly PlannedArm[] {
  const { grid, rows, repeats } = options
  const wanted = (...names: readonly BenchRow[]): boolean => names.some((name) => rows.includes(name))
  const cells = cellsOf(grid)
  const [base] = cells
  const arms: PlannedArm[] = []
  if (base === undefined) return arms
  const own = (key: ArmKey, times = repeats): PlannedArm => ({ key, spec: specOf(key, options), repeats: times })
  // A naive view costs the same whatever number of them a checkpoint has: measured once per length.
  const lengths = cells.filter((cell) => cell.targetCount === base.targetCount)
  if (wanted('shared-first', 'once')) arms.push(...lengths.map((cell) => own({ kind: 'naive', cell })))
  if (wanted('shared-first', 'full-context')) arms.push(...cells.map((cell) => own({ kind: 'shared-first', cell })))
  else if (wanted('peers')) arms.push(own({ kind: 'shared-first', cell: base }))
  if (wanted('once', 'full-context')) arms.push(...cells.map((cell) => own({ kind: 'once', cell })))
  else if (wanted('peers')) arms.push(own({ kind: 'once', cell: base }))
  if (wanted('peers'))
    for (const peer of PEERS)
      for (const reuse of [false, true])
        arms.push({ key: { kind: 'peer', peer, reuse, cell: base }, spec: null, repeats })
  const view = { ...base, targetCount: 1 }
  if (wanted('memory')) arms.push(own({ kind: 'view', cell: view }, 1), own({ kind: 'view-in-one', cell: view }, 1))
  const longest = Math.max(...grid.histories)
  const histories = wanted('full-context') ? grid.histories : wanted('memory') ? [longest] : []
  for (const historyTokens of histories) {
    const times = wanted('full-context') ? repeatsOfHistory(historyTokens, repeats) : 1
    arms.push(own({ kind: 'full-context', historyTokens }, times))
  }
  return arms.filter((arm, i) => arms.findIndex((other) => keyText(other.key) === keyText(arm.key)) === i)
}

function specOf(key: ArmKey, { directory, layer, device, weights, seed, grid }: PlanOptions): OwnArmSpec {
  const base = { directory, layer, device, weights, contextLength: null }
  switch (key.kind) {
    case 'naive':
    case 'shared-first':
      return { ...base, task: { kind: key.kind, schedule: scheduleOf(key.cell, seed), views: viewsOf(key.cell, grid) } }
    case 'once':
      return { ...base, task: { kind: 'once', schedule: scheduleOf(key.cell, seed) } }
    case 'view':
      return { ...base, task: { kind: 'shared-first', schedule: scheduleOf(key.cell, seed), views: [] } }
    case 'view-in-one':
      return { ...base, task: { kind: 'naive', schedule: scheduleOf(key.cell, seed), views: [0] } }
    case 'full-context': {
      const [rowEvery = 256] = grid.targetTokens
      const task = { kind: 'full-context', historyTokens: key.historyTokens, rowEvery, seed } as const
      return { ...base, contextLength: key.historyTokens + CONTEXT_MARGIN, task }
    }
    default:
      throw new AppError('invariant', `${key.kind} is no arm of ours`)
  }
}

/** Runs are lengthened by a token or two (run-shape.ts). */
const CONTEXT_MARGIN = 16

export function scheduleOf(cell: Cell, seed: number): ScheduleOptions {
  return { ...cell, seed }
}

/** The same views in every arm of a cell, so that their vectors can be compared. */
export function viewsOf(cell: Cell, grid: Pick<BenchGrid, 'views'>): readonly number[] {
  return spreadViews(cell.targetCount, grid.views)
}
