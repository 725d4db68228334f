/**
 * What an evaluation found, as data: written to metrics.json and read by the report. Plain JSON, no NaN.
 *
 * Every number estimates the procedure (train on four parts, test on a fifth), not the final weights, which trained on
 * other groups. Numbers are means over rotations; scores of different rotations are never ranked together.
 */
import type { InputKind } from '../../models/router/spec.ts'
import type { Interval } from '../../src/metrics/bootstrap.ts'
import type { ReliabilityBin } from '../../src/metrics/calibration.ts'
import type { BaselineName } from '../baselines/baseline.ts'
import type { RecordedDataset } from './recorded-dataset.ts'
import type { PooledEstimate, RouterStudy, StripRecord } from './router-study-record.ts'

/** 2: pooled values, temperature, `study` of routers, `strips`, near-empty rotations named. Version 1 is refused by name. */
export const EVALUATION_SCHEMA_VERSION = 2

/** Fewer test groups with a READY pair give no interval (DESIGN section 13). */
export const MIN_INTERVAL_GROUPS = 10
/** Headline pairs have at least this many interactions after them (DESIGN section 9: the label is right-censored). */
export const MIN_HEADLINE_FUTURE = 5

/** `headline`: futureInteractions >= MIN_HEADLINE_FUTURE. */
export type SubsetName = 'headline' | 'all'

/**
 * within*: mean over trajectories that hold both classes, each counting once (PairWeighted: each as often as it has pairs).
 * Others rank the pairs of all trajectories of a scope together; a pair weighs 1 / pairs of its trajectory, or 1 (PairWeighted).
 * lift = average precision / prevalence; prevalence = the precision of chance.
 */
export const METRIC_NAMES = [
  'withinAuroc',
  'withinAurocPairWeighted',
  'withinAveragePrecision',
  'withinLift',
  'auroc',
  'aurocPairWeighted',
  'averagePrecision',
  'averagePrecisionPairWeighted',
  'prevalence',
  'lift',
] as const
export type MetricName = (typeof METRIC_NAMES)[number]

export const RATE_NAMES = [
  'precision',
  'recall',
  'f1',
  'balancedAccuracy',
  'falsePositiveRate',
  'selectedShare',
  'precisionPairWeighted',
  'recallPairWeighted',
  'f1PairWeighted',
  'balancedAccuracyPairWeighted',
  'falsePositiveRatePairWeighted',
  'prematureRate',
  'delay',
  'caughtShare',
] as const
/**
 * Precision has no value in a rotation that selects nothing. prematureRate: of the interactions ever selected, those first selected
 * before their boundary; delay: first selection minus boundary, in checkpoints, of the others; caughtShare: interactions with a
 * boundary that are selected at some checkpoint.
 */
export type RateName = (typeof RATE_NAMES)[number]

export interface RotationValue {
  readonly value: number | null
  /** 95 %; null with fewer than MIN_INTERVAL_GROUPS groups, or where none is computed. */
  readonly interval: Interval | null
  /** Test groups with a READY pair. */
  readonly readyGroups: number
}

export interface Estimate {
  /** Mean over the rotations in which it is defined; null if there is none. */
  readonly value: number | null
  /** 95 % percentile bootstrap over groups within each rotation (n - 1 of n groups per draw); null with fewer than MIN_INTERVAL_GROUPS groups in all. */
  readonly interval: Interval | null
  /** Test groups with a READY pair, summed over rotations (each group is tested once). */
  readonly readyGroups: number
  readonly rotations: readonly RotationValue[]
}

export type Metrics = Readonly<Record<MetricName, Estimate>>

/** Part of the test runs: all, one domain, or runs of like length. */
export interface ScopeMetrics {
  readonly kind: 'all' | 'domain' | 'length'
  readonly name: string
  readonly runs: number
  readonly groups: number
  readonly pairs: number
  readonly metrics: Metrics
  /** Each run counts once whatever rotation tested it (metrics count each rotation once); scores are never ranked across. */
  readonly pooled: Readonly<Record<PooledMetricName, PooledEstimate>>
}

export const POOLED_METRIC_NAMES = ['withinAuroc', 'withinAveragePrecision', 'prevalence'] as const
export type PooledMetricName = (typeof POOLED_METRIC_NAMES)[number]

export const POOLED_RATE_NAMES = [
  'precision',
  'recall',
  'f1',
  'balancedAccuracy',
  'falsePositiveRate',
  'selectedShare',
] as const
export type PooledRateName = (typeof POOLED_RATE_NAMES)[number]

export interface OperatingPointMetrics {
  readonly name: string
  /** Chosen on each rotation's validation part; null: no threshold was good enough, READY is never predicted. */
  readonly taus: readonly (number | null)[]
  readonly rates: Readonly<Record<RateName, Estimate>>
  /** Decisions of all rotations together, each at its own threshold; each run counts once. */
  readonly pooled: Readonly<Record<PooledRateName, PooledEstimate>>
}

export interface CalibrationMetrics {
  readonly ece: Estimate
  readonly brier: Estimate
  readonly logLoss: Estimate
  readonly ecePairWeighted: Estimate
  readonly brierPairWeighted: Estimate
  /** Mean over rotations of trajectory-weighted bins. */
  readonly bins: readonly ReliabilityBin[]
}

/** Means over rotations on fixed grids; empty where a class is missing. */
export interface CurveSet {
  readonly roc: readonly { readonly falsePositiveRate: number; readonly truePositiveRate: number }[]
  readonly precisionRecall: readonly { readonly recall: number; readonly precision: number }[]
  readonly precisionCoverage: readonly { readonly coverage: number; readonly precision: number }[]
}

export interface SubsetMetrics {
  readonly scopes: readonly ScopeMetrics[]
  /** Of the scores as they are; null where they are no probabilities. */
  readonly calibration: CalibrationMetrics | null
  /** After dividing logits by a temperature fitted on the same half as the isotonic map; null where there is none. */
  readonly temperature: CalibrationMetrics | null
  /** After the isotonic map fitted on half of each rotation's validation groups (not the threshold's); null where there is none. */
  readonly calibrated: CalibrationMetrics | null
  readonly operatingPoints: readonly OperatingPointMetrics[]
}

export interface SampledPair {
  readonly age: number
  readonly score: number
  readonly label: 0 | 1
}

export interface PredictorRecord {
  readonly name: string
  readonly kind: 'router' | 'baseline'
  readonly description: string
  readonly subsets: Readonly<Record<SubsetName, SubsetMetrics>>
  /** Of the headline pairs, trajectory-weighted. */
  readonly curves: CurveSet
  /** Seeded sample of headline pairs for the score-by-age figure; empty for baselines. */
  readonly sample: readonly SampledPair[]
  /** Null for baselines. */
  readonly study: RouterStudy | null
}

/** a - b on headline pairs of one scope; `beats` means that the interval lies above 0. */
export interface ComparisonRecord {
  readonly metric: 'withinAuroc' | 'withinAveragePrecision'
  readonly scope: string
  readonly a: string
  readonly b: string
  readonly difference: number | null
  readonly interval: Interval | null
  readonly verdict: Verdict
}
export type Verdict = 'beats' | 'is-worse' | 'no-difference-shown' | 'cannot-tell'

export interface SubsetCounts {
  readonly pairs: number
  readonly ready: number
  readonly runs: number
  /** Runs that hold both classes: those the within metrics average over. */
  readonly mixedRuns: number
  readonly groups: number
  readonly readyGroups: number
}

/** Schema version 2. */
export interface EvaluationRecord {
  readonly schemaVersion: typeof EVALUATION_SCHEMA_VERSION
  /** Plain sentences at the top of the report: the served input first. */
  readonly summary: readonly string[]
  readonly caveats: readonly string[]
  readonly dataset: RecordedDataset
  readonly router: { readonly directory: string; readonly served: InputKind; readonly inputs: readonly InputKind[] }
  readonly bootstrap: { readonly resamples: number; readonly seed: number; readonly level: 0.95 }
  readonly rotations: number
  readonly counts: Readonly<Record<SubsetName, SubsetCounts>>
  readonly predictors: readonly PredictorRecord[]
  readonly comparisons: readonly ComparisonRecord[]
  /** Baselines in the order of the report. */
  readonly baselines: readonly BaselineName[]
  /** Best and worst held-out runs of the served router, by within-run AUROC. */
  readonly strips: readonly StripRecord[]
  /** Rotations whose test part lacks a class among headline pairs: their metrics have no value and are left out of means. */
  readonly oneClassRotations: readonly { readonly rotation: number; readonly pairs: number; readonly ready: number }[]
}
