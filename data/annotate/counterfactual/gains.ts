/**
 * From log-probabilities to gains, and to what counts as more than a placebo's. Pure.
 *
 * Let x be the log-probability of an action behind S_i, and y_1 .. y_p behind the placebos of S_i's stratum, with mean m.
 *   gain       Delta(i,j) = x - m, nats
 *   spread     s_j: standard deviation of placebos around their strata's means, pooled over the action's strata, since
 *              long or surprising actions vary more; a few placebos tell it badly, so it is drawn towards what is usual
 *              for an action of so many tokens, as if that were known from PRIOR_FREEDOM more placebos (the moderated
 *              t-statistic of Smyth 2004, doi 10.2202/1544-6115.1027)
 *   unit       u = s_j sqrt(1 + 1/p): the spread of a difference between one more interaction and the mean of p
 * A placebo's own gain is measured against the other placebos in the same way, in units without it. Gains in units are
 * comparable between actions, so one quantile of all placebos' gains is the limit for all targets.
 */
import { AppError } from '../../../src/errors.ts'
import { quantile } from '../../../src/metrics/bootstrap.ts'
import type { ActionMeasurement, MeasuredStratum } from './measurement.ts'

/** What one target gave one action. */
export interface Gain {
  readonly trajectory: string
  /** i and j. */
  readonly interaction: number
  readonly action: number
  /** Delta(i,j), nats. */
  readonly nats: number
  /** u: what `nats` is held against, in nats. */
  readonly unitNats: number
}

/** Assumption: as many degrees of freedom as one or two strata of placebos have. */
const PRIOR_FREEDOM = 4
/** Placebos that agree to the last bit still leave a unit; far below what a float32 sum of log-probabilities resolves. */
const LEAST_SPREAD_NATS = 1e-5

/** The usual variance of placebos for each token of an action, nats^2: the median over actions. */
export function usualVariance(measurements: readonly ActionMeasurement[]): number {
  const variances = measurements.flatMap(({ strata, actionTokens }) => {
    const { squares, freedom } = scatter(strata.map(placeboScores))
    return freedom === 0 ? [] : [squares / freedom / Math.max(1, actionTokens)]
  })
  return variances.length === 0 ? 0 : quantile(Float64Array.from(variances).sort(), 0.5)
}

/** @param usual what usualVariance gives for all measurements */
export function targetGains(measurement: ActionMeasurement, usual: number): readonly Gain[] {
  const { trajectory, action, strata, actionTokens } = measurement
  const spread = spreadOf(strata.map(placeboScores), usual * actionTokens)
  return strata.flatMap((stratum) => {
    const scores = placeboScores(stratum)
    const centre = mean(scores)
    const unitNats = unitOf(spread, scores.length)
    return stratum.targets.map(({ interaction, logProbability }) => ({
      trajectory,
      interaction,
      action,
      nats: logProbability - centre,
      unitNats,
    }))
  })
}

/** Gains of the action's placebos in units, each against the others of its stratum; none where there are no others. */
export function placeboGains(measurement: ActionMeasurement, usual: number): readonly number[] {
  const all = measurement.strata.map(placeboScores)
  return all.flatMap((scores, at) => {
    if (scores.length < 2) return []
    return scores.map((score, k) => {
      const others = scores.filter((_, other) => other !== k)
      const spread = spreadOf(all.with(at, others), usual * measurement.actionTokens)
      return (score - mean(others)) / unitOf(spread, others.length)
    })
  })
}

/**
 * The limit in units: this share of the placebos' gains lies at or below it.
 * @throws training-data-insufficient where there are no two placebos to compare
 */
export function placeboLimit(measurements: readonly ActionMeasurement[], share: number): number {
  const usual = usualVariance(measurements)
  const gains = Float64Array.from(measurements.flatMap((measurement) => placeboGains(measurement, usual))).sort()
  if (gains.length > 0) return quantile(gains, share)
  throw new AppError(
    'training-data-insufficient',
    `none of ${measurements.length} measured actions has two placebos to compare: import runs with more than one interaction, of more groups`,
    { details: { actions: measurements.length } },
  )
}

export function mattered(gain: Gain, limit: number): boolean {
  return gain.nats > limit * gain.unitNats
}

function placeboScores({ placebos }: MeasuredStratum): readonly number[] {
  return placebos.map(({ logProbability }) => logProbability)
}

/** @param prior the usual variance for this action, nats^2 */
function spreadOf(strata: readonly (readonly number[])[], prior: number): number {
  const { squares, freedom } = scatter(strata)
  return Math.max(LEAST_SPREAD_NATS, Math.sqrt((PRIOR_FREEDOM * prior + squares) / (PRIOR_FREEDOM + freedom)))
}

/** Squares around each stratum's own mean, and their degrees of freedom. */
function scatter(strata: readonly (readonly number[])[]): { readonly squares: number; readonly freedom: number } {
  let squares = 0
  let freedom = 0
  for (const scores of strata) {
    if (scores.length < 2) continue
    const centre = mean(scores)
    for (const score of scores) squares += (score - centre) ** 2
    freedom += scores.length - 1
  }
  return { squares, freedom }
}

function unitOf(spread: number, count: number): number {
  return spread * Math.sqrt(1 + 1 / Math.max(1, count))
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
