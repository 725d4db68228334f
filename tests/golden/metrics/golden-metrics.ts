/**
 * tests/golden/reference/metrics.json as data: values from scikit-learn; provenance and tolerances stand in the file.
 */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../../models/package-root.ts'

export interface GoldenCase {
  readonly name: string
  readonly labels: readonly number[]
  readonly scores: readonly number[]
  readonly threshold: number
  readonly auroc: number | null
  readonly averagePrecision: number | null
  readonly prevalence: number
  readonly precision: number
  readonly recall: number
  readonly f1: number
  readonly balancedAccuracy: number | null
  readonly confusion: { readonly tp: number; readonly fp: number; readonly fn: number; readonly tn: number }
  readonly falsePositiveRate: number
  readonly brier: number
  readonly logLoss: number
  readonly ece10EqualWidth: number
  readonly rocPoints: readonly (readonly [number, number])[] | null
}

export interface GoldenMetrics {
  readonly cases: readonly GoldenCase[]
  readonly logisticRegression: {
    readonly X: readonly (readonly number[])[]
    readonly y: readonly number[]
    readonly C: number
    readonly coef: readonly number[]
    readonly intercept: number
  }
  readonly isotonic: {
    readonly x: readonly number[]
    readonly y: readonly number[]
    readonly fitted: readonly number[]
  }
}

export const GOLDEN = JSON.parse(
  readFileSync(packageFile('tests', 'golden', 'reference', 'metrics.json'), 'utf8'),
) as GoldenMetrics

/** Metrics agree to 1e-12 and fits to 1e-6: the file's own promise. */
export const METRIC_TOLERANCE = 1e-12
export const FIT_TOLERANCE = 1e-6

export function distance(actual: number | null, expected: number | null): number {
  if (actual === null || expected === null) return actual === expected ? 0 : Number.POSITIVE_INFINITY
  return Math.abs(actual - expected)
}
