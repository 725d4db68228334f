/**
 * A few headline metrics of one score with intervals, where the full record of an evaluation is not needed.
 */
import { estimateOver, type ResampledEstimate } from './estimate.ts'
import type { Estimate, MetricName } from './evaluation-record.ts'
import { type RotationTest, readyGroupsOf, type TestRun } from './rotation-test.ts'
import { rankScores, scopeStatistics } from './scope-statistics.ts'

export interface TestScores {
  readonly test: RotationTest
  /** (rows of the test) */
  readonly scores: Float64Array
}

/**
 * Headline pairs, means over the rotations, bootstrap intervals over groups. Scores on the same tests share their draws, so
 * differences of draws are paired.
 * @param contains the runs that count; left out: all
 */
export function resampleScores<Name extends MetricName>(
  rotations: readonly TestScores[],
  metrics: readonly Name[],
  contains: (run: TestRun) => boolean = () => true,
): Readonly<Record<Name, ResampledEstimate>> {
  const parts = rotations.map(({ test, scores }) => ({
    test,
    readyGroups: readyGroupsOf(test, 'headline', contains),
    statistics: scopeStatistics(rankScores(test, scores), 'headline', { kind: 'all', name: 'all', contains }).metrics,
  }))
  const estimates = metrics.map((name) => [
    name,
    estimateOver(
      parts.map(({ test, readyGroups, statistics }) => ({ test, readyGroups, statistic: statistics[name] })),
      true,
    ),
  ])
  return Object.fromEntries(estimates) as Record<Name, ResampledEstimate>
}

/** The estimates of `resampleScores` alone. */
export function measureScores<Name extends MetricName>(
  rotations: readonly TestScores[],
  metrics: readonly Name[],
): Readonly<Record<Name, Estimate>> {
  const resampled = resampleScores(rotations, metrics)
  return Object.fromEntries(metrics.map((name) => [name, resampled[name].estimate])) as Record<Name, Estimate>
}

/** Scores of a test part from predictions by pair number. @throws RangeError for a test pair without a prediction */
export function scoresOf(
  test: RotationTest,
  predictions: { readonly pairs: ArrayLike<number>; readonly logits: ArrayLike<number> },
): TestScores {
  const { pairs, logits } = predictions
  const logitOf = new Map(Array.from(pairs, (pair, i) => [pair, logits[i] ?? Number.NaN]))
  return {
    test,
    scores: Float64Array.from(test.rows, (pair) => {
      const logit = logitOf.get(pair)
      if (logit === undefined) throw new RangeError(`pair ${pair} has no prediction`)
      return logit
    }),
  }
}
