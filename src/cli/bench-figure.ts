/**
 * One figure of a benchmark: a value, its goal, and whether it is reached. Pure.
 */
import { createResultTable } from './result-table.ts'

export interface BenchFigure<Row extends string = string> {
  readonly row: Row
  readonly name: string
  /** Null where it could not be measured; `note` says why. */
  readonly value: number | null
  /** Null for a figure that is only reported. */
  readonly goal: number | null
  readonly bound: 'at least' | 'at most'
  readonly ok: boolean | null
  readonly note: string | null
}

export interface FigureGoal {
  readonly goal?: number
  readonly bound?: 'at most'
  readonly note?: string
}

/** @param at.judged goals are meant for the shape of the table; elsewhere values are only reported */
export function benchFigure<Row extends string>(
  at: { readonly row: Row; readonly judged: boolean },
  measurement: { readonly name: string; readonly value: number | null } & FigureGoal,
): BenchFigure<Row> {
  const { name, value, bound = 'at least', note = null } = measurement
  const measured = value === null || !Number.isFinite(value) ? null : Number(value.toPrecision(4))
  const limit = at.judged ? (measurement.goal ?? null) : null
  const reached = measured !== null && limit !== null && (bound === 'at least' ? measured >= limit : measured <= limit)
  return {
    row: at.row,
    name,
    value: measured,
    goal: limit,
    bound,
    ok: limit === null || measured === null ? null : reached,
    note,
  }
}

export function figureTable(figures: readonly BenchFigure[]): string {
  const table = createResultTable(['row', 'figure', '>value', 'goal', 'ok', 'note'])
  for (const { row, name, value, goal, bound, ok, note } of figures)
    table.push([
      row,
      name,
      value === null ? '-' : String(value),
      goal === null ? '' : `${bound === 'at least' ? '>=' : '<='} ${goal}`,
      ok === null ? '' : ok ? 'yes' : 'NO',
      note ?? '',
    ])
  return table.toString()
}
