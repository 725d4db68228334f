/**
 * Lineage labels and the block x on real logs, against what a throwaway script measured before the product
 * (DESIGN section 9, reference/feasibility.md of the project). Bands, not values: the script's literals were not ours.
 */
import { describe, expect } from 'vitest'
import { labelAt } from '../../data/annotate/label-record.ts'
import { labelStats, MIN_FUTURE_INTERACTIONS, prevalence } from '../../data/annotate/label-stats.ts'
import { annotateLineage } from '../../data/annotate/lineage.ts'
import type { LabelledRun } from '../../data/annotate/match-labels.ts'
import { importFiles } from '../../data/import/import-files.ts'
import { buildLiteralIndex } from '../../src/evidence/literal-index.ts'
import { EVIDENCE_NAMES, evidenceFeaturesFrom } from '../../src/evidence/online-features.ts'
import { withinTrajectoryAuroc } from '../../src/metrics/within-trajectory.ts'
import { createRng, shuffled } from '../../src/rng.ts'
import { denseMatrix } from '../../training/baselines/design-matrix.ts'
import { fitLogistic, logisticScores } from '../../training/baselines/logistic-regression.ts'
import { itWithShared, sharedPath } from '../shared-folder.ts'

/** name, folders, measured prevalence over all pairs, accepted band. */
const MEASURED: readonly (readonly [string, readonly string[], number, readonly [number, number]])[] = [
  ['tau-bench', ['tau-bench'], 0.086, [0.065, 0.11]],
  ['Who&When', ['who-and-when'], 0.05, [0.035, 0.09]],
  ['SWE-agent', ['swe-agent'], 0.277, [0.22, 0.33]],
]
const CLAUDE_CODE = ['cipher-box', 'entire-cli', 'entire-skills', 'oh-my-posh', 'packmind-context-evaluator']

async function labelledRuns(folders: readonly string[]): Promise<readonly LabelledRun[]> {
  const { trajectories } = await importFiles(folders.map((folder) => sharedPath('trajectories', folder)))
  return trajectories.map((trajectory) => ({ trajectory, row: annotateLineage(trajectory) }))
}

describe('lineage labels on real logs', () => {
  for (const [name, folders, measured, [low, high]] of MEASURED) {
    itWithShared(`are about as often READY on ${name} as measured before (${measured})`, async () => {
      const share = prevalence(labelStats(await labelledRuns(folders)).all)
      expect(share).toBeGreaterThan(low)
      expect(share).toBeLessThan(high)
    })
  }

  itWithShared(
    'on Claude Code runs have the measured prevalence (0.198) and x ranks them (AUROC >= 0.87)',
    async () => {
      const runs = (await labelledRuns(CLAUDE_CODE.map((folder) => `long/${folder}`))).filter(
        ({ trajectory }) => trajectory.format === 'claude-code',
      )
      const share = prevalence(labelStats(runs).all)
      expect(share).toBeGreaterThan(0.16)
      expect(share).toBeLessThan(0.24)
      const table = featureTable(runs)
      const area = withinTrajectoryAuroc(crossFitted(table), table.labels, table.runs)
      expect(area).toBeGreaterThan(0.87)
      // A feature that leaked the future would not stop at the measured 0.90 [0.89 0.92].
      expect(area).toBeLessThan(0.96)
    },
  )
})

interface FeatureTable {
  /** (n, X) row-major. */
  readonly values: Float64Array
  readonly labels: Uint8Array
  readonly runs: Int32Array
  readonly groups: readonly string[]
}

/** Every 4th checkpoint, pairs with enough future. */
function featureTable(labelled: readonly LabelledRun[]): FeatureTable {
  const values: number[] = []
  const labels: number[] = []
  const runs: number[] = []
  for (const [run, { trajectory, row }] of labelled.entries()) {
    const index = buildLiteralIndex(trajectory)
    for (let checkpoint = 4; checkpoint <= row.interactionCount - MIN_FUTURE_INTERACTIONS; checkpoint += 4) {
      const block = evidenceFeaturesFrom(index, checkpoint)
      for (const value of block.values) values.push(value)
      for (const interaction of block.interactions) {
        const label = row.labels[interaction]
        labels.push(label === undefined ? 0 : labelAt(label, checkpoint))
        runs.push(run)
      }
    }
  }
  return {
    values: Float64Array.from(values),
    labels: Uint8Array.from(labels),
    runs: Int32Array.from(runs),
    groups: labelled.map(({ trajectory }) => trajectory.group),
  }
}

/** Out-of-fold scores of a logistic regression: 5 folds of groups, standardised and weighted on the training folds. */
function crossFitted({ values, labels, runs, groups }: FeatureTable): Float64Array {
  const width = EVIDENCE_NAMES.length
  const foldOf = new Map(shuffled([...new Set(groups)], createRng(0)).map((group, at) => [group, at % 5]))
  const fold = Array.from(runs, (run) => foldOf.get(groups[run] ?? ''))
  const scores = new Float64Array(labels.length)
  for (let held = 0; held < 5; held++) {
    const train = fold.flatMap((one, row) => (one === held ? [] : [row]))
    const test = fold.flatMap((one, row) => (one === held ? [row] : []))
    const scale = scaleOf(values, train)
    const rowsOf = (rows: readonly number[]): Float64Array =>
      Float64Array.from(
        rows.flatMap((row) =>
          scale.map(({ mean, deviation }, column) => ((values[row * width + column] ?? 0) - mean) / deviation),
        ),
      )
    const sizes = new Map<number, number>()
    for (const row of train) sizes.set(runs[row] ?? 0, (sizes.get(runs[row] ?? 0) ?? 0) + 1)
    const weight = Float64Array.from(train, (row) => 1 / (sizes.get(runs[row] ?? 0) ?? 1))
    const model = fitLogistic({
      matrix: denseMatrix(rowsOf(train), train.length, width),
      positiveWeight: weight.map((one, at) => (labels[train[at] ?? 0] === 1 ? one : 0)),
      negativeWeight: weight.map((one, at) => (labels[train[at] ?? 0] === 1 ? 0 : one)),
      c: 100,
      tolerance: 1e-5,
    })
    const predicted = logisticScores(model, denseMatrix(rowsOf(test), test.length, width))
    for (const [at, row] of test.entries()) scores[row] = predicted[at] ?? 0
  }
  return scores
}

function scaleOf(
  values: Float64Array,
  rows: readonly number[],
): readonly { readonly mean: number; readonly deviation: number }[] {
  const width = EVIDENCE_NAMES.length
  return EVIDENCE_NAMES.map((_, column) => {
    const at = (row: number): number => values[row * width + column] ?? 0
    const mean = rows.reduce((sum, row) => sum + at(row), 0) / rows.length
    const variance = rows.reduce((sum, row) => sum + (at(row) - mean) ** 2, 0) / rows.length
    return { mean, deviation: Math.sqrt(variance) || 1 }
  })
}
