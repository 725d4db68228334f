/**
 * The run that a person means by an id or the beginning of one.
 */

import { AppError } from '../errors.ts'
import type { Trajectory } from '../trajectory/trajectory.ts'

const SHOWN = 5

/**
 * The run whose id is `wanted`, else the only one whose id begins with it, else the only one whose id holds it.
 * @throws option-invalid naming the runs that fit, or the nearest ones when none does
 */
export function findRun(runs: readonly Trajectory[], wanted: string): Trajectory {
  const exact = runs.find((run) => run.id === wanted)
  if (exact !== undefined) return exact
  const beginning = runs.filter((run) => run.id.startsWith(wanted))
  const fitting = beginning.length > 0 ? beginning : runs.filter((run) => run.id.includes(wanted))
  const [only] = fitting
  if (only !== undefined && fitting.length === 1) return only
  if (fitting.length > 1)
    throw new AppError(
      'option-invalid',
      `${fitting.length} runs fit ${JSON.stringify(wanted)}: ${listed(fitting)}; give more of the id`,
      { details: { run: wanted, fitting: fitting.slice(0, 20).map((run) => run.id) } },
    )
  throw new AppError(
    'option-invalid',
    `no run is called ${JSON.stringify(wanted)}; nearest of ${runs.length}: ${listed(nearest(runs, wanted))}`,
    { details: { run: wanted } },
  )
}

function listed(runs: readonly Trajectory[]): string {
  const shown = runs.slice(0, SHOWN).map((run) => run.id)
  return runs.length > SHOWN ? `${shown.join(', ')}, ...` : shown.join(', ')
}

/** Ids that share most pairs of neighbouring characters with what was typed. */
function nearest(runs: readonly Trajectory[], wanted: string): readonly Trajectory[] {
  const pairs = bigrams(wanted.toLowerCase())
  const score = (run: Trajectory): number => {
    const own = bigrams(run.id.toLowerCase())
    return [...pairs].filter((pair) => own.has(pair)).length / Math.max(1, own.size + pairs.size)
  }
  return runs
    .map((run) => ({ run, score: score(run) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, 3)
    .map(({ run }) => run)
}

function bigrams(text: string): ReadonlySet<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)))
}
