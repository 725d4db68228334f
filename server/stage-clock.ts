/**
 * Stopwatch of one request: how long each stage took, for the Server-Timing header and the metrics.
 */
import type { AppError } from '../src/errors.ts'

export interface StageClock {
  time<T>(stage: string, work: () => T): T
  add(stage: string, milliseconds: number): void
  /** Remembers an error that became an outcome, for the log. */
  note(error: AppError): void
  readonly stages: ReadonlyMap<string, number>
  readonly noted: readonly AppError[]
}

export function createStageClock(nowMs: () => number): StageClock {
  const stages = new Map<string, number>()
  const noted: AppError[] = []
  const add = (stage: string, milliseconds: number): void => {
    stages.set(stage, (stages.get(stage) ?? 0) + milliseconds)
  }
  return {
    time(stage, work) {
      const startMs = nowMs()
      try {
        return work()
      } finally {
        add(stage, nowMs() - startMs)
      }
    },
    add,
    note: (error) => {
      noted.push(error)
    },
    stages,
    noted,
  }
}

/** e.g. `parse;dur=1.2, inference;dur=340.0` */
export function serverTiming(stages: ReadonlyMap<string, number>): string {
  return [...stages].map(([stage, milliseconds]) => `${stage};dur=${milliseconds.toFixed(1)}`).join(', ')
}
