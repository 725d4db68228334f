/**
 * What a study found, as data: written to study.json and drawn by the report. Plain JSON, no NaN; it carries its own words,
 * so that a reader needs nothing else to draw or print it.
 *
 * A study trains the same router again and again and changes one thing: how many training groups there are (`fraction`),
 * whether training has seen the domain (`domain`), or the seed (`seeds`). Every point is measured on test groups that its
 * models have neither trained on nor been chosen by, with the metrics, draws and intervals of an evaluation.
 */
import type { TrainConfig } from '../../models/router/manifest.ts'
import type { InputKind } from '../../models/router/spec.ts'
import type { Interval } from '../../src/metrics/bootstrap.ts'
import type { Estimate, MetricName, Verdict } from '../evaluation/evaluation-record.ts'
import type { RecordedDataset } from '../evaluation/recorded-dataset.ts'

export const STUDY_SCHEMA_VERSION = 1

export const STUDY_KINDS = ['fraction', 'domain', 'seeds'] as const
export type StudyKind = (typeof STUDY_KINDS)[number]

/** The headline first. Pairs with at least 5 later interactions (evaluation-record.ts says what each means). */
export const STUDY_METRICS = ['withinAuroc', 'averagePrecision', 'lift'] as const satisfies readonly MetricName[]
export type StudyMetricName = (typeof STUDY_METRICS)[number]

export interface StudyAxis {
  /** E.g. `training groups`. */
  readonly label: string
  /** `share`: x in (0, 1], draw as percent; `category`: x is null, points stand in the order given; `seed`: x is the seed. */
  readonly kind: 'share' | 'category' | 'seed'
}

export interface StudyMetric {
  readonly name: StudyMetricName
  /** E.g. `within-trajectory AUROC`. */
  readonly label: string
  /** Value of a score that knows nothing; null where it is the prevalence of the point's test pairs. */
  readonly chance: number | null
}

export interface StudyPredictor {
  /** Unique in the study. */
  readonly name: string
  /**
   * `router`: what the study varies; `baseline`: fitted on the same training groups; `reference`: a router measured on the same
   * runs without the study's change (`domain`: one that has seen other groups of the domain).
   */
  readonly kind: 'router' | 'baseline' | 'reference'
  /** Null for baselines. */
  readonly inputs: InputKind | null
  readonly description: string
}

export interface StudyPart {
  /** Means over the point's rotations; whole numbers where there is one. */
  readonly groups: number
  readonly runs: number
  readonly pairs: number
  readonly ready: number
}

export interface StudyValue {
  /** Of `predictors`. */
  readonly predictor: string
  /** `rotations` of an estimate stand in the order of the point's `rotations`. */
  readonly metrics: Readonly<Record<StudyMetricName, Estimate>>
}

export interface StudyPoint {
  /** Position on the axis; null on a `category` axis. */
  readonly x: number | null
  /** E.g. `30 %`, `swe-agent`, `seed 2`. */
  readonly label: string
  /** Numbers of the rotations behind the values: five, fewer where a part had no pairs or one class only. */
  readonly rotations: readonly number[]
  readonly training: StudyPart
  /** Summed over the rotations: each group is tested once. Headline pairs. */
  readonly test: StudyPart
  /** READY share of the test pairs, each run weighing the same, mean over rotations. */
  readonly prevalence: number | null
  /** One per predictor, in their order; a predictor without any value at this point is left out. */
  readonly values: readonly StudyValue[]
}

/** Kind `seeds`: how much the seed alone moves a value, beside how much the choice of groups does. */
export interface SeedSpread {
  readonly predictor: string
  readonly metric: StudyMetricName
  readonly seeds: number
  readonly mean: number
  /** Standard deviation between seeds (n - 1). */
  readonly standardDeviation: number
  readonly low: number
  readonly high: number
  /** Half the width of the 95 % interval over groups, mean over seeds; null without intervals. */
  readonly groupHalfWidth: number | null
}

/**
 * Two values on the same test runs and the same draws: the whole training part against half of it (`fraction`), a router that
 * has not seen the domain against one that has (`domain`).
 */
export interface StudyDifference {
  readonly metric: StudyMetricName
  readonly a: { readonly predictor: string; readonly point: string }
  readonly b: { readonly predictor: string; readonly point: string }
  /** a - b; null where one has no value. */
  readonly difference: number | null
  /** 95 %, paired; null with fewer than 10 test groups that hold a READY pair. */
  readonly interval: Interval | null
  readonly verdict: Verdict
}

export interface StudyRecord {
  readonly schemaVersion: typeof STUDY_SCHEMA_VERSION
  readonly kind: StudyKind
  readonly title: string
  /** How the points were made, one or two sentences. */
  readonly method: string
  /** What was found, a sentence each. */
  readonly summary: readonly string[]
  readonly caveats: readonly string[]
  readonly axis: StudyAxis
  readonly metrics: readonly StudyMetric[]
  readonly predictors: readonly StudyPredictor[]
  readonly points: readonly StudyPoint[]
  /** Empty unless kind is `seeds`. */
  readonly seedSpread: readonly SeedSpread[]
  readonly differences: readonly StudyDifference[]
  readonly dataset: RecordedDataset
  /** Of the routers; in a `seeds` study the seed is the point's x. */
  readonly configs: Readonly<Partial<Record<InputKind, TrainConfig>>>
  readonly bootstrap: { readonly resamples: number; readonly seed: number; readonly level: number }
  readonly engine: string
  readonly source: string
}
