import { describe, expect, it } from 'vitest'
import { ROTATIONS, rotationSplit } from '../../../data/rotations.ts'
import { auroc } from '../../../src/metrics/auroc.ts'
import { averagePrecision } from '../../../src/metrics/average-precision.ts'
import { brierScore, expectedCalibrationError } from '../../../src/metrics/calibration.ts'
import { confusionAt, thresholdRates } from '../../../src/metrics/confusion.ts'
import { withinTrajectoryAuroc } from '../../../src/metrics/within-trajectory.ts'
import { sigmoid } from '../../../src/router/decide.ts'
import { type EvaluationInput, evaluate } from '../../../training/evaluate.ts'
import type { EvaluationRecord, PredictorRecord } from '../../../training/evaluation/evaluation-record.ts'
import { syntheticDataset, syntheticTrajectories } from '../../fixtures/synthetic-dataset.ts'
import { syntheticPredictions } from '../../fixtures/synthetic-predictions.ts'

const dataset = syntheticDataset({ groups: 36, trajectoriesPerGroup: 2, minLength: 8, maxLength: 18 })
const { parts, predictions } = syntheticPredictions(dataset)
const input: EvaluationInput = {
  dataset,
  trajectories: syntheticTrajectories(dataset),
  parts,
  router: { directory: '/router', served: 'evidence' },
  predictions,
  seed: 4,
  resamples: 200,
}
const record: EvaluationRecord = await evaluate(input)
const predictor = (name: string): PredictorRecord => {
  const found = record.predictors.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no predictor ${name}`)
  return found
}
const scope = (name: string, scopeName = 'all') => {
  const found = predictor(name).subsets.headline.scopes.find((one) => one.name === scopeName)
  if (found === undefined) throw new Error(`no scope ${scopeName}`)
  return found
}

/** The headline test pairs of a rotation, with the evidence router's logits, taken the long way round. */
function headlineRows(rotation: 0 | 1 | 2 | 3 | 4, domain?: string) {
  const held = predictions.find((one) => one.inputs === 'evidence' && one.rotation === rotation)
  const groups = rotationSplit(parts, rotation).test
  const logits: number[] = []
  const labels: number[] = []
  const runs: number[] = []
  for (let i = 0; i < (held?.pairs.length ?? 0); i++) {
    const pair = held?.pairs[i] ?? 0
    const run = dataset.pairs.trajectory[pair] ?? 0
    const owner = dataset.trajectories[run]
    if (owner === undefined || !groups.has(owner.group) || (domain !== undefined && owner.domain !== domain)) continue
    if ((dataset.pairs.futureInteractions[pair] ?? 0) < 5) continue
    logits.push(held?.logits[i] ?? 0)
    labels.push(dataset.pairs.label[pair] ?? 0)
    runs.push(run)
  }
  const weights = runs.map((run) => 1 / runs.filter((other) => other === run).length)
  return { logits, labels, runs, weights }
}

const meanOver = (value: (rotation: 0 | 1 | 2 | 3 | 4) => number | null): number =>
  ROTATIONS.reduce((sum: number, rotation) => sum + (value(rotation) ?? 0), 0) / ROTATIONS.length

describe('evaluation', () => {
  it('averages the within-trajectory AUROC over rotations and never ranks rotations together', () => {
    const expected = meanOver((r) => {
      const { logits, labels, runs } = headlineRows(r)
      return withinTrajectoryAuroc(logits, labels, runs)
    })
    expect(scope('evidence').metrics.withinAuroc.value).toBeCloseTo(expected, 12)
  })

  it('ranks the pairs of a domain with each run weighing the same, and pairs weighing the same beside', () => {
    const of = (weighted: boolean, metric: typeof auroc) =>
      meanOver((r) => {
        const { logits, labels, weights } = headlineRows(r, 'tau-bench')
        return metric(logits, labels, weighted ? weights : undefined)
      })
    const { metrics } = scope('evidence', 'tau-bench')
    expect(metrics.auroc.value).toBeCloseTo(of(true, auroc), 12)
    expect(metrics.aurocPairWeighted.value).toBeCloseTo(of(false, auroc), 12)
    expect(metrics.averagePrecision.value).toBeCloseTo(of(true, averagePrecision), 12)
    expect(metrics.averagePrecisionPairWeighted.value).toBeCloseTo(of(false, averagePrecision), 12)
    expect(metrics.lift.value).toBeGreaterThan(1)
  })

  it('measures each operating point at the threshold of its own rotation', () => {
    const point = predictor('evidence').subsets.headline.operatingPoints.find((one) => one.name === 'f1')
    const rates = (r: 0 | 1 | 2 | 3 | 4) => {
      const { logits, labels, weights } = headlineRows(r)
      return thresholdRates(confusionAt(logits, labels, 0, weights))
    }
    expect(point?.taus).toEqual([0.5, 0.5, 0.5, 0.5, 0.5])
    expect(point?.rates.precision.value).toBeCloseTo(
      meanOver((r) => rates(r).precision),
      12,
    )
    expect(point?.rates.f1.value).toBeCloseTo(
      meanOver((r) => rates(r).f1),
      12,
    )
    expect(point?.rates.falsePositiveRate.value).toBeCloseTo(
      meanOver((r) => rates(r).falsePositiveRate),
      12,
    )
  })

  it('says so when a point never predicts READY', () => {
    const point = predictor('hidden').subsets.headline.operatingPoints.find((one) => one.name === 'precision')
    expect(point?.taus).toEqual([null, null, null, null, null])
    expect(point?.rates.precision.value).toBeNull()
    expect(point?.rates.recall.value).toBe(0)
    expect(point?.rates.balancedAccuracy.value).toBe(0.5)
  })

  it('measures calibration of probabilities and of nothing else', () => {
    const { calibration, calibrated } = predictor('evidence').subsets.headline
    const of = (metric: typeof brierScore) =>
      meanOver((r) => {
        const { logits, labels, weights } = headlineRows(r)
        return metric(logits.map(sigmoid), labels, weights)
      })
    expect(calibration?.brier.value).toBeCloseTo(of(brierScore), 12)
    expect(calibration?.ece.value).toBeCloseTo(of(expectedCalibrationError), 12)
    expect(calibrated?.brier.value).not.toBe(calibration?.brier.value)
    expect(predictor('age').subsets.headline.calibration).toBeNull()
    expect(predictor('domain').subsets.headline.calibration).not.toBeNull()
  })

  it('finds that evidence beats every baseline and that noise beats none of the informed ones', () => {
    const verdicts = (a: string) =>
      record.comparisons.filter((one) => one.a === a && one.scope === 'all' && one.metric === 'withinAuroc')
    const baselines = new Set<string>(record.baselines)
    for (const one of verdicts('evidence').filter(({ b }) => baselines.has(b))) {
      expect(one.verdict).toBe('beats')
      expect(one.interval?.low).toBeGreaterThan(0)
    }
    expect(verdicts('hidden').find(({ b }) => b === 'age')?.verdict).toBe('is-worse')
    expect(verdicts('hidden').find(({ b }) => b === 'evidence')?.verdict).toBe('is-worse')
    expect(record.summary[0]).toContain('evidence (the one that is served)')
    expect(record.summary[0]).toMatch(/beats every baseline \(11 of 11\)/)
    expect(record.summary.join(' ')).toMatch(/The router on hidden reaches .* is worse than .*age \(/)
  })

  it('gives intervals that hold the value, and says where they come from', () => {
    const { withinAuroc } = scope('evidence').metrics
    expect(withinAuroc.interval?.low).toBeLessThan(withinAuroc.value ?? 0)
    expect(withinAuroc.interval?.high).toBeGreaterThan(withinAuroc.value ?? 1)
    expect(withinAuroc.readyGroups).toBe(30)
    expect(withinAuroc.rotations.map((one) => one.interval)).toEqual([null, null, null, null, null])
    expect(record.caveats.join(' ')).toContain('as few as 6 groups')
  })

  it('gives no interval and no verdict with fewer than 10 test groups that hold a READY pair', async () => {
    const small = syntheticDataset({ groups: 9, minLength: 10, maxLength: 14 })
    const made = syntheticPredictions(small)
    const few = await evaluate({ ...input, dataset: small, trajectories: syntheticTrajectories(small), ...made })
    expect(few.predictors[0]?.subsets.headline.scopes[0]?.metrics.withinAuroc.interval).toBeNull()
    expect(few.comparisons.every((one) => one.interval === null && one.verdict === 'cannot-tell')).toBe(true)
    expect(few.summary.join(' ')).toContain('cannot be told apart from any baseline: fewer than 10 test groups')
    expect(few.caveats.join(' ')).toMatch(/No interval is given: only \d test groups/)
  })

  it('is the same twice, and plain JSON without NaN', async () => {
    const text = JSON.stringify(record)
    expect(JSON.parse(text)).toEqual(record)
    expect(JSON.stringify(await evaluate(input))).toBe(text)
  })

  it('says that it measures the procedure and not the final weights', () => {
    expect(record.caveats[0]).toContain('not the final weights')
  })

  it('refuses predictions that do not cover the test part', async () => {
    const short = predictions.map((one) => ({
      ...one,
      pairs: Array.from(one.pairs).slice(1),
      logits: Array.from(one.logits).slice(1),
    }))
    await expect(evaluate({ ...input, predictions: short })).rejects.toThrow(
      expect.objectContaining({ code: 'router-invalid' }),
    )
    await expect(evaluate({ ...input, predictions: [] })).rejects.toThrow(/no held-out predictions/)
  })

  it('stops when it is aborted', async () => {
    await expect(evaluate(input, { signal: AbortSignal.abort(new Error('stop')) })).rejects.toThrow('stop')
  })
})
