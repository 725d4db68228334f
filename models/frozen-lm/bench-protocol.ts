/**
 * Messages between the benchmark and the process of one arm. Structured-cloneable; peers (tests/bench/peers) speak them
 * too, so nothing here may depend on our own runtime.
 */
import type { Cost, ScheduleOptions } from './bench-schedule.ts'
import type { WeightsMode } from './execution.ts'
import type { Device } from './port.ts'

/** What an arm of ours does in one run. */
export type ArmTask =
  /** `views` of the bounded views, each from position 0 */
  | { readonly kind: 'naive'; readonly schedule: ScheduleOptions; readonly views: readonly number[] }
  /** The shared part once, every target behind it */
  | { readonly kind: 'shared-first'; readonly schedule: ScheduleOptions; readonly views: readonly number[] }
  /** The state and the newest interaction; vectors of earlier interactions are there already */
  | { readonly kind: 'once'; readonly schedule: ScheduleOptions }
  /** One pass over a whole history */
  | { readonly kind: 'full-context'; readonly historyTokens: number; readonly rowEvery: number; readonly seed: number }
  /** 2048^3 MatMul, then one prefill of each length */
  | { readonly kind: 'prefill'; readonly lengths: readonly number[]; readonly seed: number }
  /** Nothing but loading */
  | { readonly kind: 'load' }

export interface OwnArmSpec {
  readonly directory: string
  readonly layer: number
  /** Most tokens of one sequence, instead of the model's own limit: longer ones are timed, their vectors mean nothing. */
  readonly contextLength: number | null
  readonly device?: Device | undefined
  readonly weights?: WeightsMode | undefined
  readonly task: ArmTask
}

/** A peer gets the tokens themselves: it knows neither our random numbers nor our tokenizer. */
export interface PeerArmSpec {
  readonly directory: string
  readonly threads: number
  readonly shared: Int32Array
  readonly targets: readonly Int32Array[]
  readonly views: readonly number[]
  /** Whether it may use its own prefix reuse. */
  readonly reuse: boolean
}

export type ArmRequest =
  | { readonly kind: 'open'; readonly spec: OwnArmSpec | PeerArmSpec }
  | { readonly kind: 'run' }
  | { readonly kind: 'close' }

export interface OpenedArm {
  readonly kind: 'opened'
  /** Resident size with the model loaded and its weights touched, before the first long run. */
  readonly loadedBytes: number
  /** Keys and values (or recurrent states) of the longest sequence of the arm; 0 where it is not known. */
  readonly stateBytes: number
  readonly loadMs: number | null
  readonly version: string
}

export interface ArmPart {
  readonly name: string
  readonly cost: Cost
}

export interface RanArm {
  readonly kind: 'ran'
  readonly cost: Cost
  /** Computed in this run. */
  readonly tokens: number
  /** Of the views that every arm of a checkpoint runs, in order. */
  readonly hidden: readonly Float32Array[]
  readonly parts: readonly ArmPart[]
}

export type ArmReply = OpenedArm | RanArm | { readonly kind: 'failed'; readonly message: string }
