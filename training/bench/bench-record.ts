/**
 * What keepready bench train measures: rows of its table, tasks that run in processes of their own, and what they return.
 */
import type { EngineName } from '../backends/engine-names.ts'

export const TRAIN_BENCH_ROWS = ['engines', 'schemes', 'job', 'scoring', 'memory', 'metrics'] as const
export type TrainBenchRow = (typeof TRAIN_BENCH_ROWS)[number]

/**
 * dense256  256 pairs drawn from all runs, as if each had its own vectors
 * traj1     all pairs of one run
 * mix4      a quarter of the pairs of each of 4 runs: what training does
 */
export const BATCH_SCHEMES = ['dense256', 'traj1', 'mix4'] as const
export type BatchScheme = (typeof BATCH_SCHEMES)[number]

/** An engine; tfjs with the derivatives that the library makes itself (`plain`), or with ours. */
export interface EngineArm {
  readonly engine: EngineName
  readonly derivatives: 'explicit' | 'plain'
}
export const ENGINE_ARMS: readonly EngineArm[] = [
  { engine: 'ort-cpu', derivatives: 'explicit' },
  { engine: 'tfjs-wasm', derivatives: 'explicit' },
  { engine: 'tfjs-wasm', derivatives: 'plain' },
]

export interface BenchTasks {
  /** One training step on fresh pairs. */
  readonly step: EngineArm & { readonly scheme: BatchScheme; readonly dataset: string; readonly width: number }
  /** A rotation on a share of the runs: every stage that a whole one has. */
  readonly job: { readonly dataset: string; readonly width: number; readonly share: number }
  readonly scoring: { readonly hiddenSize: number; readonly width: number; readonly candidates: number }
  readonly memory: { readonly dataset: string }
  readonly metrics: { readonly dataset: string; readonly resamples: number }
}

export interface BenchResults {
  readonly step: {
    readonly pairs: number
    /** Vectors from the file, selection and dropout mask. */
    readonly buildMs: number
    /** Loss, gradient and AdamW. */
    readonly stepMs: number
    /** Of the step, in this process: what a neighbour on the core does not stretch. */
    readonly stepCpuMs: number
  }
  readonly job: JobCost
  readonly scoring: {
    readonly denseMs: number
    readonly projectedMs: number
    /** Largest difference of a logit between the two. */
    readonly difference: number
  }
  readonly memory: {
    /** Private memory that the dataset added, after each of its vectors was read; null where the kernel does not say. */
    readonly addedBytes: number | null
    readonly vectorBytes: number
  }
  readonly metrics: { readonly ms: number; readonly pairs: number }
}

/** Stages of a job, each with what it grows with: amounts measured, and amounts of a whole rotation. */
export interface JobCost {
  readonly stages: readonly {
    readonly name: string
    readonly ms: number
    readonly cpuMs: number
    readonly measured: number
    readonly whole: number
  }[]
  /** Of single steps. */
  readonly stepMs: readonly number[]
  readonly samples: number
  readonly wholeSamples: number
  readonly peakBytes: number | null
  readonly anonymousBytes: number | null
}

export type TaskKind = keyof BenchTasks
export type TaskRequest =
  | { readonly [Kind in TaskKind]: { readonly kind: Kind; readonly task: BenchTasks[Kind] } }[TaskKind]
  | { readonly kind: 'run' }
export type TaskReply =
  | { readonly kind: 'opened' }
  | { readonly kind: 'ran'; readonly result: BenchResults[TaskKind] }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }

export interface MeasuredStep extends EngineArm {
  readonly scheme: BatchScheme
  readonly costs: readonly BenchResults['step'][]
  /** Why there are none. */
  readonly unavailable: string | null
}

export interface MeasuredJob {
  readonly recipe: 'once' | 'shared-first'
  /** One per process; they ran at the same time. */
  readonly costs: readonly JobCost[]
}

export interface TrainBenchRecord {
  readonly pairs: number
  readonly steps: readonly MeasuredStep[]
  readonly jobs: readonly MeasuredJob[]
  readonly scoring: readonly BenchResults['scoring'][]
  readonly memory: readonly (BenchResults['memory'] & { readonly recipe: MeasuredJob['recipe'] })[]
  readonly metrics: readonly BenchResults['metrics'][]
}
