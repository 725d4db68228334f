/** The tokens that every arm reads, and the clock that times it. */
import { createRng } from '../../src/rng.ts'

/** One checkpoint: what its views share, and its targets. */
export interface Schedule {
  readonly shared: Int32Array
  readonly targets: readonly Int32Array[]
}

export interface ScheduleOptions {
  readonly sharedTokens: number
  readonly targetCount: number
  /** Mean; single targets lie within 25 % of it. */
  readonly targetTokens: number
  readonly seed: number
}

/** Random tokens: a forward pass costs the same whatever they are. */
export function createSchedule(options: ScheduleOptions, vocabularySize: number): Schedule {
  const { targetCount, targetTokens } = options
  const draw = tokenSource(options.seed, vocabularySize)
  const share = (index: number): number => (targetCount === 1 ? 0.5 : index / (targetCount - 1))
  return {
    shared: draw(options.sharedTokens),
    targets: Array.from({ length: targetCount }, (_, i) =>
      draw(Math.max(1, Math.round(targetTokens * (0.75 + 0.5 * share(i))))),
    ),
  }
}

export function tokenSource(seed: number, vocabularySize: number): (length: number) => Int32Array {
  const rng = createRng(seed)
  return (length) => Int32Array.from({ length }, () => rng.nextBelow(vocabularySize))
}

/** `count` of the targets, evenly spread: the views that an arm which runs some of them runs. */
export function spreadViews(targetCount: number, count: number): readonly number[] {
  const views = Math.min(count, targetCount)
  return Array.from({ length: views }, (_, i) => Math.floor(((i + 0.5) * targetCount) / views))
}

/** Tokens of all views, each from position 0. */
export function naiveTokens({ shared, targets }: Schedule): number {
  return targets.reduce((sum, target) => sum + shared.length + target.length, 0)
}

export interface Cost {
  readonly wallMs: number
  /** Process CPU time, user and system: with one thread a neighbour on the core does not disturb it. */
  readonly cpuMs: number
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
