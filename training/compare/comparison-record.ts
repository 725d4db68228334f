/**
 * What a comparison of evaluated runs found, as data: written to comparison.json and drawn by the page. Plain JSON.
 *
 * Every number is measured on the pairs that all runs hold out, with the same groups and the same bootstrap draws, so
 * differences are paired. The first run is the one the others are measured against.
 */
import type { InputKind } from '../../models/router/spec.ts'
import type { Interval } from '../../src/metrics/bootstrap.ts'
import type { MarginStability } from '../../src/metrics/margin-stability.ts'
import type { Estimate, MetricName, Verdict } from '../evaluation/evaluation-record.ts'

export const COMPARISON_SCHEMA_VERSION = 1

/** The headline first. */
export const COMPARED_METRICS = [
  'withinAuroc',
  'withinAveragePrecision',
  'auroc',
  'averagePrecision',
] as const satisfies readonly MetricName[]
export type ComparedMetric = (typeof COMPARED_METRICS)[number]

export interface ComparedRunRecord {
  /** Unique in the comparison. */
  readonly name: string
  readonly dataset: string
  readonly router: string
  readonly representationId: string
  /** What decides the run, in words: model, layer, recipe, K_ctx, window, budgets, training. The same keys for every run. */
  readonly settings: Readonly<Record<string, string>>
  /** Tokens that the extraction of its dataset computed. */
  readonly computedTokens: number
  /** Pairs it holds out, and how many of them another run lacks. */
  readonly heldOutPairs: number
  readonly unmatchedPairs: number
}

export interface RunDifference {
  /** `run` minus `against`, the first run. */
  readonly run: string
  readonly against: string
  readonly metric: ComparedMetric
  /** `all` or a domain. */
  readonly scope: string
  readonly difference: number | null
  readonly interval: Interval | null
  readonly readyGroups: number
  /** From the side of `run`. */
  readonly verdict: Verdict
  /** The verdict as a sentence without its full stop. */
  readonly words: string
}

export interface RunStability extends MarginStability {
  readonly run: string
  readonly against: string
  readonly operatingPoint: string
}

export interface ScopeEstimates {
  readonly scope: string
  readonly runs: number
  readonly pairs: number
  readonly metrics: Readonly<Record<ComparedMetric | 'prevalence', Estimate>>
}

/** The runs' routers on one kind of input. */
export interface KindComparison {
  /** One kind, or the kinds in the order of the runs where they differ. */
  readonly inputs: string
  readonly kinds: readonly InputKind[]
  /** In the order of the runs; scopes are `all` and the domains. */
  readonly values: readonly { readonly run: string; readonly scopes: readonly ScopeEstimates[] }[]
  readonly differences: readonly RunDifference[]
  /** How decisions move from the first run to each other, each at its own thresholds; empty where one never says READY. */
  readonly stability: readonly RunStability[]
}

export interface RunComparison {
  readonly schemaVersion: typeof COMPARISON_SCHEMA_VERSION
  readonly summary: readonly string[]
  readonly caveats: readonly string[]
  readonly runs: readonly ComparedRunRecord[]
  readonly matched: {
    readonly pairs: number
    readonly headlinePairs: number
    /** With headline pairs. */
    readonly runs: number
    readonly groups: number
    /** Test groups with a READY headline pair. */
    readonly readyGroups: number
  }
  readonly kinds: readonly KindComparison[]
  readonly bootstrap: { readonly resamples: number; readonly seed: number; readonly level: 0.95 }
}
