/**
 * The test part of one rotation, laid out for metrics: which rows count in which sub-set, with which weight, and how
 * often each group is drawn. Every predictor is measured on this same table and these same draws.
 */
import type { Dataset } from '../../data/store/dataset.ts'
import { drawGroups, type GroupDraws } from '../../src/metrics/bootstrap.ts'
import { createRng, deriveSeed } from '../../src/rng.ts'
import { MIN_HEADLINE_FUTURE, type SubsetName } from './evaluation-record.ts'

export interface TestRun {
  /** Index into dataset.trajectories. */
  readonly trajectory: number
  /** In [0, groups). */
  readonly group: number
  readonly domain: string
  readonly length: number
}

export interface TestSubset {
  /** (rows) 1 where the pair counts. */
  readonly mask: Uint8Array
  /** (rows) 1 / pairs of the run in this sub-set; 0 outside. */
  readonly runWeights: Float64Array
  /** (rows) 1 inside, 0 outside. */
  readonly pairWeights: Float64Array
}

export interface RotationTest {
  readonly rotation: number
  /** (rows) pair numbers of the dataset. */
  readonly rows: Int32Array
  readonly labels: Uint8Array
  /** (rows) index into `runs`, and the run's group. */
  readonly run: Int32Array
  readonly group: Int32Array
  readonly runs: readonly TestRun[]
  readonly groups: number
  /**
   * Each resample holds groups - 1 groups: a rotation is a stratum of the mean over rotations, and drawing all n of few
   * groups would make intervals too narrow by sqrt((n - 1) / n) (Rao & Wu 1988).
   */
  readonly draws: GroupDraws
  readonly subsets: Readonly<Record<SubsetName, TestSubset>>
}

export interface RotationTestOptions {
  readonly rotation: number
  readonly testGroups: ReadonlySet<string>
  readonly resamples: number
  readonly seed: number
}

export function createRotationTest(dataset: Dataset, options: RotationTestOptions): RotationTest {
  const { pairs, trajectories } = dataset
  const rows = pairsOfGroups(dataset, options.testGroups)
  const groupNumber = new Map([...options.testGroups].sort().map((group, i) => [group, i]))
  const runNumber = new Map<number, number>()
  const runs: TestRun[] = []
  for (const pair of rows) {
    const trajectory = pairs.trajectory[pair] ?? 0
    const known = trajectories[trajectory]
    if (runNumber.has(trajectory) || known === undefined) continue
    runNumber.set(trajectory, runs.length)
    runs.push({
      trajectory,
      group: groupNumber.get(known.group) ?? 0,
      domain: known.domain,
      length: known.length,
    })
  }
  const run = Int32Array.from(rows, (pair) => runNumber.get(pairs.trajectory[pair] ?? 0) ?? 0)
  const inHeadline = Uint8Array.from(rows, (pair) =>
    (pairs.futureInteractions[pair] ?? 0) >= MIN_HEADLINE_FUTURE ? 1 : 0,
  )
  const masks = { headline: inHeadline, all: new Uint8Array(rows.length).fill(1) }
  const groups = groupNumber.size
  return {
    rotation: options.rotation,
    rows,
    labels: Uint8Array.from(rows, (pair) => pairs.label[pair] ?? 0),
    run,
    group: Int32Array.from(run, (number) => runs[number]?.group ?? 0),
    runs,
    groups,
    draws: drawGroups(
      { groups, resamples: options.resamples, size: Math.max(1, groups - 1) },
      createRng(deriveSeed(options.seed, 'bootstrap', options.rotation)),
    ),
    subsets: {
      headline: createSubset(masks.headline, run, runs.length),
      all: createSubset(masks.all, run, runs.length),
    },
  }
}

/** Pair numbers whose trajectory belongs to one of the groups, in dataset order. */
export function pairsOfGroups({ pairs, trajectories }: Dataset, groups: ReadonlySet<string>): Int32Array {
  const inside = trajectories.map((trajectory) => groups.has(trajectory.group))
  const out: number[] = []
  for (let pair = 0; pair < pairs.count; pair++) if (inside[pairs.trajectory[pair] ?? 0] === true) out.push(pair)
  return Int32Array.from(out)
}

/** Test groups with a READY pair in the sub-set, among the runs of a scope (default: all). */
export function readyGroupsOf(test: RotationTest, subset: SubsetName, inScope?: (run: TestRun) => boolean): number {
  const { mask } = test.subsets[subset]
  const groups = new Set<number>()
  for (let row = 0; row < test.rows.length; row++) {
    if (mask[row] === 0 || test.labels[row] !== 1) continue
    const run = test.runs[test.run[row] ?? 0]
    if (run !== undefined && (inScope === undefined || inScope(run))) groups.add(run.group)
  }
  return groups.size
}

export function subsetRows(test: RotationTest, subset: SubsetName): number {
  return test.subsets[subset].mask.reduce((sum, inside) => sum + inside, 0)
}

function createSubset(mask: Uint8Array, run: Int32Array, runs: number): TestSubset {
  const counts = new Float64Array(runs)
  for (let row = 0; row < mask.length; row++) counts[run[row] ?? 0] = (counts[run[row] ?? 0] ?? 0) + (mask[row] ?? 0)
  return {
    mask,
    runWeights: Float64Array.from(mask, (inside, row) => (inside === 0 ? 0 : 1 / (counts[run[row] ?? 0] ?? 1))),
    pairWeights: Float64Array.from(mask),
  }
}
