/**
 * All runs measured and labelled. Reads and writes no file but the measurements it is given; loads no model.
 */
import type { TokenScorer } from '../../../models/frozen-lm/head/token-scorer.ts'
import { AppError } from '../../../src/errors.ts'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import type { ViewEncoder } from '../../../src/view/view-encoder.ts'
import { findNearDuplicates } from '../../near-duplicates.ts'
import type { LabelRow } from '../label-record.ts'
import { type Gain, placeboLimit, targetGains, usualVariance } from './gains.ts'
import { labelRun } from './label-run.ts'
import { measureAction } from './measure-action.ts'
import { targetTokens } from './measured-views.ts'
import type { ActionMeasurement } from './measurement.ts'
import type { MeasurementFile } from './measurement-file.ts'
import { createPlaceboPool, type PoolEntry } from './placebo-pool.ts'
import { type ActionPlan, planActions } from './plan-actions.ts'
import type { CounterfactualSettings } from './settings.ts'

/**
 * Every action that will be measured, in order.
 * @throws training-data-insufficient where placebos have no other group to come from; interrupted
 */
export async function planAnnotation(
  runs: readonly Trajectory[],
  parts: {
    readonly encoder: ViewEncoder
    readonly settings: CounterfactualSettings
    readonly signal: AbortSignal
    /** Told after every run that was tokenised. */
    readonly onRun: (runs: number) => void
  },
): Promise<readonly ActionPlan[]> {
  const { encoder, settings, signal, onRun } = parts
  const entriesOf: (readonly PoolEntry[])[] = []
  for (const run of runs) {
    entriesOf.push(
      run.interactions.map((interaction) => ({
        run,
        interaction,
        tokens: targetTokens(encoder, interaction, settings),
      })),
    )
    onRun(entriesOf.length)
    // Tokenising a run is synchronous work.
    await new Promise((resolve) => setImmediate(resolve))
    signal.throwIfAborted()
  }
  const { groupOf } = findNearDuplicates(runs)
  const pool = createPlaceboPool(entriesOf.flat(), { ...settings, groupOf })
  return runs.flatMap((run, k) => planActions(run, { entries: entriesOf[k] ?? [], pool, settings }))
}

/**
 * What of the plans is not in the file yet is measured and appended.
 * @param options.onTokens told of every run of the model
 * @returns one measurement for each plan, in order
 * @throws rows-invalid where the file's actions are not those of the plans; disk-full; interrupted; what the scorer throws
 */
export async function measureAll(
  plans: readonly ActionPlan[],
  options: {
    readonly file: MeasurementFile
    readonly scorer: TokenScorer
    readonly encoder: ViewEncoder
    readonly settings: CounterfactualSettings
    readonly signal: AbortSignal
    readonly onTokens: (tokens: number) => void
  },
): Promise<readonly ActionMeasurement[]> {
  const { file } = options
  requireSameOrder(plans, file)
  const measurements = [...file.earlier]
  for (const plan of plans.slice(measurements.length)) {
    const measurement = await measureAction(plan, options)
    await file.append(measurement)
    measurements.push(measurement)
  }
  return measurements
}

export interface CounterfactualLabels {
  readonly rows: readonly LabelRow[]
  readonly gains: readonly Gain[]
  /** The quantile of the placebos' gains, in units (gains.ts). */
  readonly limit: number
}

/**
 * @param quantile share of the placebos' gains that a gain must exceed
 * @throws training-data-insufficient (gains.ts)
 */
export function labelAll(
  runs: readonly Trajectory[],
  work: {
    readonly measurements: readonly ActionMeasurement[]
    readonly annotator: string
    readonly quantile: number
  },
): CounterfactualLabels {
  const { measurements, annotator, quantile } = work
  const limit = placeboLimit(measurements, quantile)
  const gainsOf = new Map<string, Gain[]>()
  const usual = usualVariance(measurements)
  for (const gain of measurements.flatMap((measurement) => targetGains(measurement, usual))) {
    const own = gainsOf.get(gain.trajectory)
    if (own === undefined) gainsOf.set(gain.trajectory, [gain])
    else own.push(gain)
  }
  return {
    rows: runs.map((run) => labelRun(run, { annotator, gains: gainsOf.get(run.id) ?? [], limit })),
    gains: [...gainsOf.values()].flat(),
    limit,
  }
}

function requireSameOrder(plans: readonly ActionPlan[], { path, earlier }: MeasurementFile): void {
  const same = earlier.every(({ trajectory, action }, k) => {
    const plan = plans[k]
    return plan !== undefined && plan.run.id === trajectory && plan.action.index === action
  })
  if (same) return
  throw new AppError(
    'rows-invalid',
    `${path} holds actions in another order than these runs and options give: it was changed; remove it, or choose another --journal`,
    { details: { path } },
  )
}
