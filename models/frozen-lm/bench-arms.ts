/**
 * Three ways to get the hidden states of one checkpoint's targets, over the same tokens and the same session:
 *   shared-prefix  the shared part once, then each target behind its KV cache (what extraction does)
 *   naive          every bounded view [shared part][target] from position 0
 *   full-context   one pass over the shared part and all targets, one after the other
 */
import { setImmediate } from 'node:timers/promises'
import { invariant } from '../../src/errors.ts'
import { createRng } from '../../src/rng.ts'
import { concatTokens } from '../../src/view/section.ts'
import type { FrozenLm } from './port.ts'

export const ARM_NAMES = ['shared-prefix', 'naive', 'full-context'] as const
export type ArmName = (typeof ARM_NAMES)[number]

export interface Schedule {
  readonly shared: Int32Array
  readonly targets: readonly Int32Array[]
  /** Views that the naive arm runs, evenly spread; its time is scaled up to all of them. */
  readonly naiveViews: readonly number[]
}

export interface ScheduleOptions {
  readonly sharedTokens: number
  readonly targetCount: number
  /** Mean; single targets lie within 25 % of it. */
  readonly targetTokens: number
  readonly naiveViewCount: number
  readonly seed: number
}

export interface Cost {
  readonly wallMs: number
  /** Process CPU time, user and system: with one thread a neighbour on the core does not disturb it. */
  readonly cpuMs: number
}

export interface ArmRun {
  /** The whole checkpoint; the naive arm's subset is scaled up. */
  readonly cost: Cost
  /** The shared part alone; null in the other arms. */
  readonly sharedCost: Cost | null
  /** Hidden states of the targets the arm ran, by target. */
  readonly hidden: ReadonlyMap<number, Float32Array>
  readonly computedTokens: number
}

export function createSchedule(options: ScheduleOptions, vocabularySize: number): Schedule {
  const { targetCount, targetTokens } = options
  const rng = createRng(options.seed)
  const draw = (length: number): Int32Array => Int32Array.from({ length }, () => rng.nextBelow(vocabularySize))
  const share = (index: number): number => (targetCount === 1 ? 0.5 : index / (targetCount - 1))
  const views = Math.min(options.naiveViewCount, targetCount)
  return {
    shared: draw(options.sharedTokens),
    targets: Array.from({ length: targetCount }, (_, i) =>
      draw(Math.max(1, Math.round(targetTokens * (0.75 + 0.5 * share(i))))),
    ),
    naiveViews: Array.from({ length: views }, (_, i) => Math.floor(((i + 0.5) * targetCount) / views)),
  }
}

export async function runArm(
  arm: ArmName,
  run: { readonly lm: FrozenLm; readonly schedule: Schedule; readonly signal?: AbortSignal | undefined },
): Promise<ArmRun> {
  switch (arm) {
    case 'shared-prefix':
      return runSharedPrefix(run)
    case 'naive':
      return runNaive(run)
    case 'full-context':
      return runFullContext(run)
    default:
      return arm satisfies never
  }
}

type Run = Parameters<typeof runArm>[1]

async function runSharedPrefix(run: Run): Promise<ArmRun> {
  const { lm, schedule } = run
  const start = readClock()
  const shared = await lm.prefill(schedule.shared, { past: null, rows: 'last', keepState: true })
  const sharedCost = since(start)
  const past = invariant(shared.state, 'the state was asked for')
  const hidden = new Map<number, Float32Array>()
  let computedTokens = schedule.shared.length
  for (const [index, target] of schedule.targets.entries()) {
    await yieldTo(run.signal)
    const result = await lm.prefill(target, { past, rows: 'last', keepState: false })
    hidden.set(index, result.hidden.data)
    computedTokens += target.length
  }
  lm.dispose(past)
  return { cost: since(start), sharedCost, hidden, computedTokens }
}

async function runNaive(run: Run): Promise<ArmRun> {
  const { lm, schedule } = run
  const hidden = new Map<number, Float32Array>()
  const start = readClock()
  let ranTokens = 0
  for (const index of schedule.naiveViews) {
    await yieldTo(run.signal)
    const view = concatTokens([schedule.shared, schedule.targets[index] ?? new Int32Array(0)])
    const result = await lm.prefill(view, { past: null, rows: 'last', keepState: false })
    hidden.set(index, result.hidden.data)
    ranTokens += view.length
  }
  const { wallMs, cpuMs } = since(start)
  const allTokens = schedule.targets.reduce((sum, target) => sum + schedule.shared.length + target.length, 0)
  const scale = allTokens / ranTokens
  return {
    cost: { wallMs: wallMs * scale, cpuMs: cpuMs * scale },
    sharedCost: null,
    hidden,
    computedTokens: allTokens,
  }
}

async function runFullContext(run: Run): Promise<ArmRun> {
  const { lm, schedule } = run
  const text = concatTokens([schedule.shared, ...schedule.targets])
  let end = schedule.shared.length
  const rows = schedule.targets.map((target) => {
    end += target.length
    return end - 1
  })
  await yieldTo(run.signal)
  const start = readClock()
  const { hidden } = await lm.prefill(text, { past: null, rows, keepState: false })
  return {
    cost: since(start),
    sharedCost: null,
    hidden: new Map(rows.map((_, i) => [i, hidden.data.slice(i * hidden.cols, (i + 1) * hidden.cols)])),
    computedTokens: text.length,
  }
}

export interface ClockReading {
  readonly wallMs: number
  readonly cpu: NodeJS.CpuUsage
}

export function readClock(): ClockReading {
  return { wallMs: performance.now(), cpu: process.cpuUsage() }
}

export function since(start: ClockReading): Cost {
  const { user, system } = process.cpuUsage(start.cpu)
  return { wallMs: performance.now() - start.wallMs, cpuMs: (user + system) / 1000 }
}

/** A run blocks the thread: between two of them signals are delivered and progress is drawn. */
async function yieldTo(signal: AbortSignal | undefined): Promise<void> {
  await setImmediate()
  signal?.throwIfAborted()
}
