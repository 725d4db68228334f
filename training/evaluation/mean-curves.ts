/**
 * ROC, precision-recall and precision-coverage curves averaged over rotations on fixed grids: scores of different
 * rotations come from different models and are never ranked together.
 */
import {
  interpolateCurve,
  precisionAtRecalls,
  precisionCoveragePoints,
  rocPoints,
  sweepThresholds,
} from '../../src/metrics/curves.ts'
import type { CurveSet } from './evaluation-record.ts'
import type { RotationTest } from './rotation-test.ts'

/** Steps of 2 %, and finer near 0, where a precision-first router works. */
const GRID: readonly number[] = [0, 0.0025, 0.005, 0.01, 0.015, ...Array.from({ length: 50 }, (_, i) => (i + 1) / 50)]
const RECALL_GRID = GRID.slice(1)

export function meanCurves(
  rotations: readonly { readonly test: RotationTest; readonly scores: Float64Array }[],
): CurveSet {
  const sweeps = rotations.map(({ test, scores }) => {
    const { mask, runWeights } = test.subsets.headline
    const rows = Array.from(mask.keys()).filter((row) => mask[row] === 1)
    return sweepThresholds(
      rows.map((row) => scores[row] ?? 0),
      rows.map((row) => test.labels[row] ?? 0),
      rows.map((row) => runWeights[row] ?? 0),
    )
  })
  const roc = meanColumns(sweeps.map((sweep) => interpolateCurve(rocPoints(sweep), GRID)))
  const recall = meanColumns(sweeps.map((sweep) => precisionAtRecalls(sweep, RECALL_GRID)))
  const coverage = meanColumns(sweeps.map((sweep) => interpolateCurve(precisionCoveragePoints(sweep), RECALL_GRID)))
  return {
    roc: roc.map((value, i) => ({ falsePositiveRate: GRID[i] ?? 0, truePositiveRate: value })),
    precisionRecall: recall.map((value, i) => ({ recall: RECALL_GRID[i] ?? 0, precision: value })),
    precisionCoverage: coverage.map((value, i) => ({ coverage: RECALL_GRID[i] ?? 0, precision: value })),
  }
}

function meanColumns(curves: readonly (readonly number[] | null)[]): readonly number[] {
  const defined = curves.filter((curve) => curve !== null)
  const first = defined[0]
  if (first === undefined) return []
  return first.map((_, i) => defined.reduce((sum, curve) => sum + (curve[i] ?? 0), 0) / defined.length)
}
