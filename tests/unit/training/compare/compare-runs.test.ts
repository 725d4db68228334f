import { describe, expect, it } from 'vitest'
import type { Dataset } from '../../../../data/store/dataset.ts'
import type { InputKind } from '../../../../models/router/spec.ts'
import { compareRuns } from '../../../../training/compare/compare-runs.ts'
import type { ComparedRun } from '../../../../training/compare/compared-run.ts'
import type { RunComparison } from '../../../../training/compare/comparison-record.ts'
import { evaluate } from '../../../../training/evaluate.ts'
import { syntheticDataset, syntheticTrajectories } from '../../../fixtures/synthetic-dataset.ts'
import { syntheticPredictions } from '../../../fixtures/synthetic-predictions.ts'

const OPTIONS = { seed: 4, resamples: 100 }
const dataset = syntheticDataset({ groups: 30, minLength: 8, maxLength: 14 })

function runOf(name: string, given: { dataset?: Dataset; seed?: number; inputs?: InputKind | null } = {}): ComparedRun {
  const of = given.dataset ?? dataset
  return {
    name,
    dataset: of,
    router: `router-${name}`,
    ...syntheticPredictions(of, given.seed),
    inputs: given.inputs === undefined ? 'evidence' : given.inputs,
    settings: { recipe: name },
  }
}

/** The same run with other logits: every logit plus noise that depends on its pair only. */
function shifted(run: ComparedRun, by: (pair: number) => number): ComparedRun {
  return {
    ...run,
    predictions: run.predictions.map((one) => ({
      ...one,
      logits: Float64Array.from(one.pairs, (pair, at) => (one.logits[at] ?? 0) + by(pair)),
    })),
  }
}

/** Only pairs that `keep` says yes to, renumbered, as another extraction would have them. */
function cutDown(run: ComparedRun, keep: (pair: number) => boolean): ComparedRun {
  const { pairs } = run.dataset
  const kept = Array.from({ length: pairs.count }, (_, pair) => pair).filter(keep)
  const numberOf = new Map(kept.map((pair, at) => [pair, at]))
  const take = <Column extends Int32Array | Uint8Array>(column: Column): Column =>
    column.filter((_, pair) => numberOf.has(pair)) as Column
  return {
    ...run,
    dataset: {
      ...run.dataset,
      pairs: {
        ...pairs,
        count: kept.length,
        trajectory: take(pairs.trajectory),
        interaction: take(pairs.interaction),
        checkpoint: take(pairs.checkpoint),
        label: take(pairs.label),
        futureInteractions: take(pairs.futureInteractions),
        boundary: take(pairs.boundary),
      },
    },
    predictions: run.predictions.map((one) => {
      const inside = Array.from(one.pairs, (pair, at) => ({ pair: numberOf.get(pair), logit: one.logits[at] ?? 0 }))
      const left = inside.flatMap(({ pair, logit }) => (pair === undefined ? [] : [{ pair, logit }]))
      return { ...one, pairs: left.map(({ pair }) => pair), logits: left.map(({ logit }) => logit) }
    }),
  }
}

function headline(comparison: RunComparison, inputs: string) {
  return comparison.kinds
    .find((kind) => kind.inputs === inputs)
    ?.differences.find((one) => one.scope === 'all' && one.metric === 'withinAuroc')
}

describe('comparison of runs', () => {
  it('gives each run the value that its own evaluation gives it, when all pairs are common', async () => {
    const comparison = compareRuns([runOf('a', { inputs: null }), runOf('b', { inputs: null })], OPTIONS)
    const record = await evaluate({
      dataset,
      trajectories: syntheticTrajectories(dataset),
      ...syntheticPredictions(dataset),
      router: { directory: '/router', served: 'evidence' },
      ...OPTIONS,
    })
    for (const kind of comparison.kinds) {
      const own = record.predictors.find((one) => one.name === kind.inputs)?.subsets.headline.scopes[0]?.metrics
      for (const { scopes } of kind.values) {
        expect(scopes[0]?.metrics.withinAuroc).toEqual(own?.withinAuroc)
        expect(scopes[0]?.metrics.averagePrecision).toEqual(own?.averagePrecision)
      }
    }
    expect(comparison.kinds.map((kind) => kind.inputs)).toEqual(['hidden', 'hidden+evidence', 'evidence'])
    expect(comparison.matched.headlinePairs).toBe(record.counts.headline.pairs)
    expect(comparison.matched).toMatchObject({
      runs: record.counts.headline.runs,
      groups: record.counts.headline.groups,
      readyGroups: record.counts.headline.readyGroups,
    })
  })

  it('finds no difference at all between a run and itself, and every decision kept', () => {
    const comparison = compareRuns([runOf('a'), runOf('same')], OPTIONS)
    const found = headline(comparison, 'evidence')
    expect(found).toMatchObject({ difference: 0, interval: { low: 0, high: 0 }, verdict: 'no-difference-shown' })
    expect(found?.words).toBe('cannot tell same and a apart: +.000 [.000 .000]; they may differ by up to .000')
    expect(comparison.kinds[0]?.stability).toMatchObject([{ kept: 1, correlation: expect.closeTo(1, 9) }])
  })

  it('says that a run with noise on its scores is worse, in numbers and in words', () => {
    const noise = (pair: number): number => 6 * Math.sin(pair * 12.9898)
    const comparison = compareRuns([runOf('clean'), shifted(runOf('noisy'), noise)], OPTIONS)
    const found = headline(comparison, 'evidence')
    expect(found?.verdict).toBe('is-worse')
    expect(found?.interval?.high).toBeLessThan(0)
    expect(found?.words).toMatch(/^noisy is worse than clean: -\.\d{3} \[-\.\d{3} -\.\d{3}\]$/)
    expect(comparison.summary[0]).toMatch(/^On [\d,]+ pairs of \d+ held-out runs in \d+ groups that all runs hold out/)
    expect(comparison.summary[0]?.endsWith(`on evidence: ${found?.words}.`)).toBe(true)
    const kept = comparison.kinds.find((kind) => kind.inputs === 'evidence')?.stability[0]?.kept ?? 1
    expect(kept).toBeGreaterThan(0.5)
    expect(kept).toBeLessThan(0.9)
  })

  it('compares only the pairs that all runs hold out, and counts the others', () => {
    const odd = (pair: number): boolean => (dataset.pairs.checkpoint[pair] ?? 0) % 2 === 1
    const comparison = compareRuns([runOf('every'), cutDown(runOf('odd'), odd)], OPTIONS)
    const held = syntheticPredictions(dataset).predictions.filter((one) => one.inputs === 'evidence')
    const all = held.flatMap((one) => Array.from(one.pairs))
    expect(comparison.matched.pairs).toBe(all.filter(odd).length)
    expect(comparison.runs.map((run) => [run.heldOutPairs, run.unmatchedPairs])).toEqual([
      [all.length, all.length - all.filter(odd).length],
      [all.filter(odd).length, 0],
    ])
    expect(headline(comparison, 'evidence')?.difference).toBe(0)
    expect(comparison.caveats.join(' ')).toMatch(/every: [\d,]+ of [\d,]+ held-out pairs are not in all runs/)
  })

  it('gives the same pairs for either order of the runs, with the sign turned', () => {
    const a = runOf('a')
    const b = cutDown(
      shifted(runOf('b'), (pair) => Math.cos(pair)),
      (pair) => pair % 3 > 0,
    )
    const there = headline(compareRuns([a, b], OPTIONS), 'evidence')
    const back = headline(compareRuns([b, a], OPTIONS), 'evidence')
    expect(there?.difference).toBeCloseTo(-(back?.difference ?? 1), 12)
    expect(there?.interval?.low).toBeCloseTo(-(back?.interval?.high ?? 1), 12)
  })

  it('measures every further run against the first', () => {
    const comparison = compareRuns([runOf('a'), runOf('b'), shifted(runOf('c'), (pair) => Math.sin(pair))], OPTIONS)
    const pairs = comparison.kinds[0]?.differences.filter((one) => one.scope === 'all' && one.metric === 'auroc')
    expect(pairs?.map((one) => [one.run, one.against])).toEqual([
      ['b', 'a'],
      ['c', 'a'],
    ])
    const domains = new Set(comparison.kinds[0]?.differences.map((one) => one.scope))
    expect([...domains].sort()).toEqual(['all', 'swe-agent', 'tau-bench'])
  })

  it('compares two kinds of input of one router when they are named', () => {
    const comparison = compareRuns(
      [runOf('vectors', { inputs: 'hidden' }), runOf('features', { inputs: 'evidence' })],
      OPTIONS,
    )
    expect(comparison.kinds.map((kind) => kind.inputs)).toEqual(['hidden / evidence'])
    expect(headline(comparison, 'hidden / evidence')?.verdict).toBe('beats')
  })

  it('is plain JSON and the same twice', () => {
    const runs = [runOf('a'), shifted(runOf('b'), (pair) => Math.sin(pair))]
    const comparison = compareRuns(runs, OPTIONS)
    expect(JSON.parse(JSON.stringify(comparison))).toEqual(comparison)
    expect(compareRuns(runs, OPTIONS)).toEqual(comparison)
  })

  it('does not judge differences that rest on fewer than 10 test groups with a READY pair', () => {
    const small = syntheticDataset({ groups: 9, minLength: 10, maxLength: 14 })
    const comparison = compareRuns([runOf('a', { dataset: small }), runOf('b', { dataset: small })], OPTIONS)
    const found = headline(comparison, 'evidence')
    expect(found).toMatchObject({ interval: null, verdict: 'cannot-tell' })
    expect(found?.words).toMatch(/^too few groups to say: \+\.000 \(\d test groups hold a READY pair, 10 are needed\)$/)
  })
})

describe('runs that cannot be compared', () => {
  const refusal = (code: string, message: RegExp) =>
    expect.objectContaining({ code, message: expect.stringMatching(message) })

  it('are refused by name when one has trained on test groups of the other', () => {
    expect(() => compareRuns([runOf('a'), runOf('b', { seed: 2 })], OPTIONS)).toThrow(
      refusal('runs-incomparable', /stands in part \d of a and in part \d of b.*same --seed/),
    )
  })

  it('are refused when they have no pair in common', () => {
    const other = runOf('b', {
      dataset: { ...dataset, trajectories: dataset.trajectories.map((one) => ({ ...one, id: `x-${one.id}` })) },
    })
    expect(() => compareRuns([runOf('a'), other], OPTIONS)).toThrow(
      refusal('runs-incomparable', /no held-out pair .* is in all of a .*, b .*same runs\.jsonl/),
    )
  })

  it('are refused when a common pair has another label, with the pair and the count', () => {
    const held = runOf('a').predictions[0]?.pairs[5] ?? 0
    const label = dataset.pairs.label.slice()
    label[held] = 1 - (label[held] ?? 0)
    const other = { ...runOf('b'), dataset: { ...dataset, pairs: { ...dataset.pairs, label } } }
    expect(() => compareRuns([runOf('a'), other], OPTIONS)).toThrow(
      refusal(
        'labels-mismatch',
        /a and b were labelled differently: 1 of \d+ common pairs, the first at interaction \d+, checkpoint \d+ of run-\d+/,
      ),
    )
  })

  it('are refused when they share no kind of input, or are fewer than two', () => {
    const only = (run: ComparedRun, kind: InputKind): ComparedRun => ({
      ...run,
      inputs: null,
      predictions: run.predictions.filter((one) => one.inputs === kind),
    })
    expect(() => compareRuns([only(runOf('a'), 'hidden'), only(runOf('b'), 'evidence')], OPTIONS)).toThrow(
      refusal('option-invalid', /no kind of input in common.*a: hidden; b: evidence/),
    )
    expect(() => compareRuns([runOf('a')], OPTIONS)).toThrow(refusal('option-invalid', /at least 2/))
  })
})
