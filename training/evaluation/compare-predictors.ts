/**
 * Who beats whom: paired bootstrap differences on the same draws (DESIGN section 13).
 */
import { pairedDifferenceInterval } from '../../src/metrics/bootstrap.ts'
import type { ComparisonRecord, Estimate, Verdict } from './evaluation-record.ts'
import { MIN_INTERVAL_GROUPS } from './evaluation-record.ts'
import type { MeasuredPredictor } from './measure-predictor.ts'

const COMPARED = ['withinAuroc', 'withinAveragePrecision'] as const

/** Every router against every baseline and every other router, in every scope but length groups. */
export function comparePredictors(predictors: readonly MeasuredPredictor[]): readonly ComparisonRecord[] {
  const routers = predictors.filter(({ record }) => record.kind === 'router')
  const out: ComparisonRecord[] = []
  for (const a of routers)
    for (const b of predictors) {
      if (a === b) continue
      for (const scope of a.record.subsets.headline.scopes) {
        if (scope.kind === 'length') continue
        for (const metric of COMPARED) {
          const other = b.record.subsets.headline.scopes.find((candidate) => candidate.name === scope.name)
          if (other !== undefined)
            out.push(
              compare({ a, b, metric, scope: scope.name, left: scope.metrics[metric], right: other.metrics[metric] }),
            )
        }
      }
    }
  return out
}

function compare(pair: {
  readonly a: MeasuredPredictor
  readonly b: MeasuredPredictor
  readonly metric: ComparisonRecord['metric']
  readonly scope: string
  readonly left: Estimate
  readonly right: Estimate
}): ComparisonRecord {
  const { a, b, metric, scope, left, right } = pair
  const key = `${metric}/${scope}`
  const draws = [a.draws.get(key), b.draws.get(key)] as const
  const interval =
    draws[0] === undefined || draws[1] === undefined || left.readyGroups < MIN_INTERVAL_GROUPS
      ? null
      : pairedDifferenceInterval(draws[0], draws[1])
  return {
    metric,
    scope,
    a: a.record.name,
    b: b.record.name,
    difference: left.value === null || right.value === null ? null : left.value - right.value,
    interval,
    verdict: verdictOf(interval),
  }
}

/** The interval of the difference decides: above 0, below 0, or around it. */
export function verdictOf(interval: { readonly low: number; readonly high: number } | null): Verdict {
  if (interval === null) return 'cannot-tell'
  if (interval.low > 0) return 'beats'
  return interval.high < 0 ? 'is-worse' : 'no-difference-shown'
}
