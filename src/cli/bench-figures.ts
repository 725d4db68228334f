/**
 * From measurements to the figures of the table, one or more per row. Pure. Ratios are of CPU time in the same
 * round where all arms have one thread, so that a neighbour on the machine does not decide them; two cores need wall time.
 */
import type { BenchGrid } from '../../models/frozen-lm/bench-plan.ts'
import { cellsOf } from '../../models/frozen-lm/bench-plan.ts'
import {
  type ArmKey,
  type BenchRow,
  type Cell,
  cellText,
  type ExtractionBenchRecord,
  type MeasuredArm,
  PEERS,
  sameKey,
} from '../../models/frozen-lm/bench-record.ts'
import { costAt, fitCost, median, pairedRatio } from '../../models/frozen-lm/bench-statistics.ts'
import { DEFAULT_RECIPE } from '../view/recipe.ts'
import { type BenchFigure, benchFigure, type FigureGoal } from './bench-figure.ts'
import type { ReplayTokens } from './bench-replay.ts'

export type ExtractFigure = BenchFigure<BenchRow>

export interface FigureInput {
  readonly record: ExtractionBenchRecord
  readonly replays: readonly ReplayTokens[]
  readonly grid: BenchGrid
  readonly rows: readonly BenchRow[]
  /** Goals are meant for the shape of SmolLM2-135M and the default grid; elsewhere values are only reported. */
  readonly judged: boolean
}

/** A history that long is extrapolated: the model's cost curve, not a measurement. */
export const EXTRAPOLATED_TOKENS = 57_000
/** A fit says little about lengths many times those it was made from. */
export const MOST_EXTRAPOLATION = 8

export function figuresOf(input: FigureInput): readonly ExtractFigure[] {
  const figures = {
    'shared-first': sharedFirst,
    once,
    'full-context': fullContext,
    'prefix-cache': prefixCache,
    prefill,
    cores,
    peers,
    memory,
    load,
  } satisfies Record<BenchRow, (scope: Scope) => readonly ExtractFigure[]>
  const [base] = cellsOf(input.grid)
  if (base === undefined) return []
  return input.rows.flatMap((row) => figures[row]({ ...input, row, base }))
}

interface Scope extends FigureInput {
  readonly row: BenchRow
  /** The first cell of the grid. */
  readonly base: Cell
}

function figure(scope: Scope, name: string, value: number | null, goal: FigureGoal = {}): ExtractFigure {
  return benchFigure(scope, { name, value, ...goal })
}

function armOf({ record }: FigureInput, key: ArmKey): MeasuredArm | undefined {
  return record.arms.find((arm) => sameKey(arm.key, key))
}

function cpuOf(arm: MeasuredArm | undefined): readonly number[] {
  return arm?.costs.map((cost) => cost.cpuMs) ?? []
}

/** Cost of the first over cost of the second. */
function ratio(input: FigureInput, slow: ArmKey, fast: ArmKey): number {
  return pairedRatio(cpuOf(armOf(input, slow)), cpuOf(armOf(input, fast)))
}

/** The naive arm of one number of targets stands for all: a view costs the same however many there are. */
function naiveRatio(scope: Scope, fast: ArmKey & { readonly cell: Cell }): number {
  const measured: Cell = { ...fast.cell, targetCount: scope.base.targetCount }
  const perTarget = ratio(scope, { kind: 'naive', cell: measured }, fast) / measured.targetCount
  return perTarget * fast.cell.targetCount
}

function sharedFirst(scope: Scope): readonly ExtractFigure[] {
  return cellsOf(scope.grid).map((cell) => {
    const isBase = cellText(cell) === cellText(scope.base)
    const name = `shared-first over naive bounded views, ${cellText(cell)}`
    return figure(scope, name, naiveRatio(scope, { kind: 'shared-first', cell }), isBase ? { goal: 4.8 } : {})
  })
}

const ONCE_GOALS: Readonly<Record<number, number>> = { 16: 10, 64: 30 }

function once(scope: Scope): readonly ExtractFigure[] {
  const cells = cellsOf(scope.grid)
  const perCell = cells.map((cell) =>
    figure(
      scope,
      `once over naive bounded views, per checkpoint, ${cellText(cell)}`,
      naiveRatio(scope, { kind: 'once', cell }),
      {
        ...(isFirstLength(scope, cell) ? goalFor(ONCE_GOALS, cell.targetCount) : {}),
      },
    ),
  )
  const most = cells.filter((cell) => isFirstLength(scope, cell)).at(-1)
  if (most === undefined || most.targetCount === scope.base.targetCount) return perCell
  const growth = ratio(scope, { kind: 'once', cell: most }, { kind: 'once', cell: scope.base })
  const name = `once, cost at N = ${most.targetCount} over N = ${scope.base.targetCount}`
  return [...perCell, figure(scope, name, growth, { goal: 1.1, bound: 'at most' })]
}

function isFirstLength({ base }: Scope, cell: Cell): boolean {
  return cell.sharedTokens === base.sharedTokens && cell.targetTokens === base.targetTokens
}

function goalFor(goals: Readonly<Record<number, number>>, targetCount: number): FigureGoal {
  const goal = goals[targetCount]
  return goal === undefined ? {} : { goal }
}

function fullContext(scope: Scope): readonly ExtractFigure[] {
  const historyTokens = Math.max(...scope.grid.histories)
  const history: ArmKey = { kind: 'full-context', historyTokens }
  const fit = fitCost(historyPoints(scope.record))
  const cells = cellsOf(scope.grid).filter((cell) => isFirstLength(scope, cell))
  const over = (kind: 'shared-first' | 'once', goals: Readonly<Record<number, number>>): readonly ExtractFigure[] =>
    cells.flatMap((cell) => {
      const runs = armOf(scope, history)?.costs.length ?? 0
      const name = `${kind} over a full context of ${historyTokens.toLocaleString('en-US')} tokens, N = ${cell.targetCount}`
      const note = `${runs} run${runs === 1 ? '' : 's'} of the full context`
      const value = ratio(scope, history, { kind, cell })
      const far = `${kind} over a full context of ${EXTRAPOLATED_TOKENS.toLocaleString('en-US')} tokens (fit), N = ${cell.targetCount}`
      const farCost = fit === null ? null : costAt(fit, EXTRAPOLATED_TOKENS)
      const farValue = farCost === null ? null : farCost / median(cpuOf(armOf(scope, { kind, cell })))
      const measured = figure(scope, name, value, { ...goalFor(goals, cell.targetCount), note })
      return historyTokens * MOST_EXTRAPOLATION < EXTRAPOLATED_TOKENS
        ? [measured]
        : [measured, figure(scope, far, farValue)]
    })
  return [...over('shared-first', { 16: 7 }), ...over('once', { 16: 15, 64: 15 })]
}

/** CPU time of one pass by its length, medians. */
export function historyPoints(
  record: ExtractionBenchRecord,
): readonly { readonly tokens: number; readonly cost: number }[] {
  return record.arms.flatMap((arm) =>
    arm.key.kind === 'full-context' && arm.costs.length > 0
      ? [{ tokens: arm.key.historyTokens, cost: median(cpuOf(arm)) }]
      : [],
  )
}

function prefixCache(scope: Scope): readonly ExtractFigure[] {
  if (scope.replays.length === 0)
    return [figure(scope, 'prefix cache off over on, tokens', null, { note: 'no long run to replay was found' })]
  return scope.replays.map(({ recipe, window, checkpoints, computedTokens, computedTokensWithCache }) =>
    figure(
      scope,
      `prefix cache off over on, tokens computed per checkpoint, recipe ${recipe}, ${window} window`,
      computedTokens / computedTokensWithCache,
      {
        ...(recipe === DEFAULT_RECIPE.name && window === DEFAULT_RECIPE.window ? { goal: 1.5 } : {}),
        note: `${checkpoints} checkpoints of a real run, one after the other`,
      },
    ),
  )
}

function prefill(scope: Scope): readonly ExtractFigure[] {
  const shares = scope.record.prefill.map(({ tokens, share }) => ({ tokens, share: median(share) }))
  const [first, ...rest] = shares
  if (first === undefined) return []
  const worst = rest.reduce((low, next) => (next.share < low.share ? next : low), first)
  const lengths = shares.map(({ tokens }) => tokens)
  const name = `prefill over the 2048^3 MatMul rate, lowest of S = ${Math.min(...lengths)}..${Math.max(...lengths)}`
  return [figure(scope, name, worst.share, { goal: 0.9, note: `at S = ${worst.tokens}` })]
}

function cores(scope: Scope): readonly ExtractFigure[] {
  const value = median(scope.record.cores.map(({ oneMs, bothMs }) => (2 * oneMs) / bothMs))
  return [figure(scope, 'two workers over one, checkpoints per second', value, { goal: 1.8, note: 'wall time' })]
}

function peers(scope: Scope): readonly ExtractFigure[] {
  const cell = scope.base
  return PEERS.flatMap((peer) => {
    const reason = scope.record.unavailablePeers.find((entry) => entry.peer === peer)?.reason
    const note = reason === undefined ? null : `unavailable: ${reason}`
    return ([false, true] as const).flatMap((reuse) =>
      (['once', 'shared-first'] as const).map((kind) => {
        const name = `${kind} over ${peer}${reuse ? ' with its prefix reuse' : ''}, ${cellText(cell)}`
        const value = note === null ? ratio(scope, { kind: 'peer', peer, reuse, cell }, { kind, cell }) : null
        const judged = kind === 'once' && !reuse ? { goal: 5 } : {}
        return figure(scope, name, value, { ...judged, ...(note === null ? {} : { note }) })
      }),
    )
  })
}

function memory(scope: Scope): readonly ExtractFigure[] {
  const historyTokens = Math.max(...scope.grid.histories)
  const cell = { ...scope.base, targetCount: 1 }
  const history = armOf(scope, { kind: 'full-context', historyTokens })?.memory
  const saved = (kind: 'view' | 'view-in-one', part: 'peakBytes' | 'workspaceBytes'): number | null => {
    const view = armOf(scope, { kind, cell })?.memory
    return view == null || history == null ? null : 100 * (1 - view[part] / history[part])
  }
  const against = `${cellText(cell)} views against one run of ${historyTokens.toLocaleString('en-US')}`
  return [
    figure(scope, `peak memory saved, percent, ${against}`, saved('view', 'peakBytes'), { goal: 60 }),
    figure(scope, `workspace saved, percent, ${against}`, saved('view', 'workspaceBytes'), {
      goal: 75,
      note: 'no chunked prefill in either',
    }),
    figure(scope, 'peak memory saved, percent, the same view in one run', saved('view-in-one', 'peakBytes')),
    figure(scope, 'workspace saved, percent, the same view in one run', saved('view-in-one', 'workspaceBytes'), {
      note: 'no state is copied out for later targets',
    }),
  ]
}

function load(scope: Scope): readonly ExtractFigure[] {
  const { loads } = scope.record
  const size = `${((loads[0]?.checkpointBytes ?? 0) / 1e9).toFixed(2)} GB`
  const shares = loads.map(({ anonymousBytes, checkpointBytes }) => (100 * anonymousBytes) / checkpointBytes)
  return [
    figure(scope, `anonymous memory after loading ${size} of F32 weights, percent of it`, median(shares), {
      goal: 10,
      bound: 'at most',
      note: 'the whole process, Node included',
    }),
    figure(
      scope,
      `seconds to load ${size} and touch every weight once`,
      median(loads.map(({ loadMs }) => loadMs / 1000)),
      {
        note: 'file in the page cache',
      },
    ),
  ]
}
