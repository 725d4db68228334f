/** What one run of the extraction benchmark measured: plain data, from which card, figures and report are made. */
import type { ArmMemory } from './bench-arm-process.ts'
import type { Cost } from './bench-schedule.ts'

/** The rows of the table of figures, by the names that `--only` takes. */
export const BENCH_ROWS = [
  'shared-first',
  'once',
  'full-context',
  'prefix-cache',
  'prefill',
  'cores',
  'peers',
  'memory',
  'load',
] as const
export type BenchRow = (typeof BENCH_ROWS)[number]

/** One checkpoint: a shared part, and targets of a mean length. */
export interface Cell {
  readonly sharedTokens: number
  readonly targetCount: number
  readonly targetTokens: number
}

export const PEERS = ['transformers.js', 'llama.cpp'] as const
export type PeerName = (typeof PEERS)[number]

export type ArmKey =
  | { readonly kind: 'naive' | 'shared-first' | 'once'; readonly cell: Cell }
  | { readonly kind: 'peer'; readonly peer: PeerName; readonly reuse: boolean; readonly cell: Cell }
  | { readonly kind: 'full-context'; readonly historyTokens: number }
  /** The shared part and one target: what memory is measured on. */
  | { readonly kind: 'view'; readonly cell: Cell }
  /** The same tokens from position 0, no state kept. */
  | { readonly kind: 'view-in-one'; readonly cell: Cell }

export interface MeasuredArm {
  readonly key: ArmKey
  /** One per round, of a whole checkpoint: an arm that runs some of its views is scaled up by tokens. */
  readonly costs: readonly Cost[]
  /** Tokens that a whole checkpoint computes. */
  readonly tokens: number
  /** Tokens that a round really computed. */
  readonly ranTokens: number
  readonly memory: ArmMemory | null
  readonly version: string
  /** Of the views that all arms of a cell run, from the first round. */
  readonly hidden: readonly Float32Array[]
}

export interface PrefillRate {
  readonly tokens: number
  /** 10^9 operations per second of CPU time, one per round. */
  readonly gflops: readonly number[]
  /** Over the MatMul rate of the same round. */
  readonly share: readonly number[]
}

export interface LoadCost {
  readonly checkpointBytes: number
  readonly loadMs: number
  /** Of the whole process, with the weights touched by a first short run. */
  readonly anonymousBytes: number
  readonly fileBytes: number
  /** A process with the runtime and no model. */
  readonly emptyAnonymousBytes: number
}

export interface CoresRound {
  readonly oneMs: number
  /** Two processes at once, until both are done. */
  readonly bothMs: number
}

export interface ExtractionBenchRecord {
  readonly layer: number
  readonly hiddenSize: number
  readonly vocabularySize: number
  readonly arms: readonly MeasuredArm[]
  readonly matMulGflops: readonly number[]
  readonly prefill: readonly PrefillRate[]
  readonly cores: readonly CoresRound[]
  readonly loads: readonly LoadCost[]
  readonly unavailablePeers: readonly { readonly peer: PeerName; readonly reason: string }[]
}

export function sameKey(a: ArmKey, b: ArmKey): boolean {
  return keyText(a) === keyText(b)
}

/** `shared-first 2,048 + 16 x 256` */
export function keyText(key: ArmKey): string {
  const count = (value: number): string => value.toLocaleString('en-US')
  switch (key.kind) {
    case 'full-context':
      return `full-context ${count(key.historyTokens)}`
    case 'peer':
      return `${key.peer}${key.reuse ? ', prefix reuse' : ''} ${cellText(key.cell)}`
    case 'naive':
    case 'shared-first':
    case 'once':
    case 'view':
    case 'view-in-one':
      return `${key.kind} ${cellText(key.cell)}`
    default:
      return key satisfies never
  }
}

export function cellText({ sharedTokens, targetCount, targetTokens }: Cell): string {
  const targets = targetCount === 1 ? String(targetTokens) : `${targetCount} x ${targetTokens}`
  return `${sharedTokens.toLocaleString('en-US')} + ${targets}`
}
