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
/** Enough for what needs an evaluation of its own. */
const small = syntheticDataset({ groups: 12, minLength: 9, maxLength: 12 })
const smallInput: EvaluationInput = {
  ...input,
  dataset: small,
  trajectories: syntheticTrajectories(small),
  ...syntheticPredictions(small),
  resamples: 100,
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
    const tiny = syntheticDataset({ groups: 9, minLength: 10, maxLength: 14 })
    const made = syntheticPredictions(tiny)
    const few = await evaluate({ ...input, dataset: tiny, trajectories: syntheticTrajectories(tiny), ...made })
    expect(few.predictors[0]?.subsets.headline.scopes[0]?.metrics.withinAuroc.interval).toBeNull()
    expect(few.comparisons.every((one) => one.interval === null && one.verdict === 'cannot-tell')).toBe(true)
    expect(few.summary.join(' ')).toContain('cannot be told apart from any baseline: fewer than 10 test groups')
    expect(few.caveats.join(' ')).toMatch(/No interval is given: only \d test groups/)
  })

  it('counts each run once, whatever rotation tested it, in the pooled values', () => {
    const areas: number[] = []
    for (const rotation of ROTATIONS) {
      const { logits, labels, runs } = headlineRows(rotation)
      for (const run of new Set(runs)) {
        const own = (values: readonly number[]): readonly number[] => values.filter((_, i) => runs[i] === run)
        const area = auroc(own(logits), own(labels))
        if (area !== null) areas.push(area)
      }
    }
    const { pooled } = scope('evidence')
    expect(pooled.withinAuroc.value).toBeCloseTo(areas.reduce((sum, area) => sum + area, 0) / areas.length, 12)
    expect(pooled.withinAuroc.interval?.low).toBeLessThan(pooled.withinAuroc.value ?? 0)
    const point = predictor('evidence').subsets.headline.operatingPoints.find((one) => one.name === 'f1')
    const sums = { tp: 0, fp: 0, fn: 0, tn: 0 }
    for (const rotation of ROTATIONS) {
      const { logits, labels, weights } = headlineRows(rotation)
      const own = confusionAt(logits, labels, 0, weights)
      for (const key of ['tp', 'fp', 'fn', 'tn'] as const) sums[key] += own[key]
    }
    expect(point?.pooled.precision.value).toBeCloseTo(thresholdRates(sums).precision, 12)
    expect(point?.pooled.recall.value).toBeCloseTo(thresholdRates(sums).recall, 12)
  })

  it('studies policies, delays and margins of routers, and of nothing else', () => {
    expect(predictor('age').study).toBeNull()
    const study = predictor('evidence').study
    expect(study?.policies).toHaveLength(10)
    expect(study?.delays.map((one) => one.operatingPoint)).toEqual(['precision', 'f1', 'cost', 'fixed'])
    const f1 = study?.delays.find((one) => one.operatingPoint === 'f1')
    expect(f1?.called).toBeGreaterThan(100)
    expect(study?.margins).toMatchObject({ operatingPoint: 'precision', pairs: record.counts.headline.pairs })
    const other = study?.margins?.measured.find((one) => one.name === 'other-rotation')
    expect(other?.pairs).toBe(record.counts.headline.pairs)
    expect(other?.kept).toBeLessThan(1)
    expect(predictor('hidden').study?.margins?.operatingPoint).toBe('f1')
  })

  it('calibrates with a temperature beside the isotonic map, on groups that no threshold is chosen on', () => {
    const { calibration, temperature } = predictor('evidence').subsets.headline
    expect(temperature?.logLoss.value ?? 1).toBeLessThan(calibration?.logLoss.value ?? 0)
    expect(predictor('age').subsets.headline.temperature).toBeNull()
  })

  it('shows the best and the worst runs of the served router', () => {
    expect(record.strips.map((one) => one.rank)).toEqual(['best', 'best', 'best', 'worst', 'worst', 'worst'])
    const areas = record.strips.map((one) => one.withinAuroc)
    expect(Math.min(...areas.slice(0, 3))).toBeGreaterThan(Math.max(...areas.slice(3)))
    for (const strip of record.strips) {
      expect(strip.p).toHaveLength(strip.interactions.length)
      strip.interactions.forEach((interaction, i) => {
        strip.checkpoints.forEach((checkpoint, k) => {
          const [p, label, boundary] = [strip.p[i]?.[k], strip.labels[i]?.[k], strip.boundaries[i]]
          expect(p === null).toBe(checkpoint - interaction < 2)
          if (p !== null) expect(label).toBe(boundary != null && checkpoint >= boundary ? 1 : 0)
        })
      })
    }
  })

  it('has no temperature, policies or second opinion from predictions without a validation part', async () => {
    const served = smallInput.predictions.filter((one) => one.inputs === 'evidence')
    const bare = served.map(({ validation: _, ...rest }) => rest)
    const found = await evaluate({ ...smallInput, predictions: bare })
    const first = found.predictors[0]
    expect(first?.subsets.headline.temperature).toBeNull()
    expect(first?.study).toMatchObject({ policies: [] })
    expect(first?.study?.margins?.measured).toEqual([])
  })

  it('names a rotation whose test part holds no READY pair, and leaves it out of means', async () => {
    const barren = rotationSplit(smallInput.parts, 2).test
    const label = small.pairs.label.map((value, pair) =>
      barren.has(small.trajectories[small.pairs.trajectory[pair] ?? 0]?.group ?? '') ? 0 : value,
    )
    const found = await evaluate({ ...smallInput, dataset: { ...small, pairs: { ...small.pairs, label } } })
    expect(found.oneClassRotations).toMatchObject([{ rotation: 2, ready: 0 }])
    expect(found.caveats.join(' ')).toMatch(/Rotation 2 has no value .* none of its \d+ headline test pairs is READY/)
    const estimate = found.predictors[0]?.subsets.headline.scopes[0]?.metrics.withinAuroc
    expect(estimate?.rotations[2]?.value).toBeNull()
    expect(estimate?.rotations.filter((one) => one.value !== null)).toHaveLength(4)
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
  })

  it.each([
    ['KEEP', 0],
    ['READY', 1],
  ])('refuses held-out pairs that are all %s', async (name, value) => {
    const label = dataset.pairs.label.map(() => value)
    await expect(evaluate({ ...input, dataset: { ...dataset, pairs: { ...dataset.pairs, label } } })).rejects.toThrow(
      expect.objectContaining({
        code: 'training-data-insufficient',
        message: expect.stringMatching(new RegExp(`all \\d+ held-out pairs are ${name}: one class alone`)),
      }),
    )
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
