/**
 * What will be asked about one run: its text laid out once, and its stage-1 calls. Pure.
 */
import { endCheckpoint } from '../../../src/trajectory/trajectory.ts'
import type { CountTokens } from './clip-text.ts'
import { layOutRun, type RunLayout } from './lay-out-run.ts'
import { type CallLimits, promptBudget } from './limits.ts'
import { PROMPTS } from './prompts/prompts.ts'
import type { RunText } from './run-text.ts'
import { planStageOne, type StageOneCall } from './stage-one-request.ts'

export interface RunPlan {
  readonly run: RunText
  readonly checkpoints: readonly number[]
  /** null: the run has too many parts for the context; nothing is asked, all is KEEP. */
  readonly layout: RunLayout | null
  readonly calls: readonly StageOneCall[]
  /** Interactions that are a target of some call, ascending: each has at most one stage-2 call. */
  readonly targets: readonly number[]
}

export function planRun(
  run: RunText,
  options: { readonly checkpoints: readonly number[]; readonly limits: CallLimits; readonly count: CountTokens },
): RunPlan {
  const { checkpoints, limits, count } = options
  const inRange = checkpoints.filter((checkpoint) => checkpoint >= 2 && checkpoint < endCheckpoint(run.sent))
  if (inRange.length === 0) return { run, checkpoints: inRange, layout: null, calls: [], targets: [] }
  const longest = Math.max(count(PROMPTS.stageOne), count(PROMPTS.stageTwo))
  const layout = layOutRun(run.sent, promptBudget(limits) - longest, count)
  const calls = layout === null ? [] : planStageOne(run.sent, layout, { checkpoints: inRange, limits })
  const targets = [...new Set(calls.flatMap((call) => call.targets))].sort((a, b) => a - b)
  return { run, checkpoints: inRange, layout, calls, targets }
}
