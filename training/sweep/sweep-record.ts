/**
 * What a sweep found, as data: written to sweep.json. Plain JSON, no NaN.
 */
import type { TrainConfig } from '../../models/router/manifest.ts'
import type { InputKind } from '../../models/router/spec.ts'
import type { Estimate } from '../evaluation/evaluation-record.ts'
import type { DatasetSummary } from './same-data.ts'

export const SWEEP_SCHEMA_VERSION = 1

export const NESTED_METRICS = ['withinAuroc', 'averagePrecision', 'lift'] as const
export type NestedMetricName = (typeof NESTED_METRICS)[number]

export interface SweepConfigurationRecord {
  /** From 0; what `chosen` of the rotations means. */
  readonly number: number
  /** What tells it from the others, e.g. `evidence w10 lr0.003`. */
  readonly name: string
  /** Number of the dataset. */
  readonly dataset: number
  readonly inputs: InputKind
  readonly config: TrainConfig
  /**
   * Within-trajectory AUROC on the rotations' validation parts, with the interval over validation groups. It was looked at to
   * choose: the value of the best one is too high.
   */
  readonly validation: Estimate
  /** Mean over rotations. */
  readonly validationPrAuc: number | null
  /** Rotations that chose it. */
  readonly chosenBy: readonly number[]
  /** Rotations in which its loss diverged. */
  readonly divergedIn: readonly number[]
}

export interface SweepRotationRecord {
  readonly rotation: number
  readonly groups: { readonly train: number; readonly validation: number; readonly test: number }
  /** Number and name of the configuration. */
  readonly chosen: number
  readonly chosenName: string
  readonly bestEpoch: number
  readonly validation: { readonly withinAuroc: number | null; readonly prAuc: number | null }
  /** Interval: null with fewer than 10 test groups that hold a READY pair. */
  readonly test: Readonly<Record<NestedMetricName, Estimate['rotations'][number]>>
}

export interface SweepRecord {
  readonly schemaVersion: typeof SWEEP_SCHEMA_VERSION
  readonly datasets: readonly Omit<DatasetSummary, 'trajectories' | 'shared'>[]
  readonly search: { readonly kind: 'grid' | 'random'; readonly configurations: number; readonly jobs: number }
  readonly configurations: readonly SweepConfigurationRecord[]
  readonly rotations: readonly SweepRotationRecord[]
  /**
   * The procedure "search, then train": each rotation tested with the configuration that its own validation part chose.
   * Means over rotations, intervals over test groups.
   */
  readonly nested: Readonly<Record<NestedMetricName, Estimate>>
  /** Mean validation within-trajectory AUROC of the chosen ones, and how much better it looks than the test. */
  readonly validationOfChosen: number | null
  readonly optimism: number | null
  /** The configuration that most rotations chose (ties: the best mean on validation), and how to train it. */
  readonly mostChosen: { readonly number: number; readonly rotations: number; readonly command: string }
  readonly bootstrap: { readonly resamples: number; readonly seed: number; readonly level: number }
  readonly engine: string
  readonly source: string
}
