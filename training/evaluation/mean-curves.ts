/**
 * ROC, precision-recall and precision-coverage curves averaged over rotations on fixed grids: scores of different
 * rotations come from different models and are never ranked together.
 */
import {
  interpolateCurve,
  precisionAtRecalls,
  precisionCoveragePoints,
  rocPoints,
  sweepRanked,
} from '../../src/metrics/curves.ts'
import { restrictRanking } from '../../src/metrics/ranking.ts'
import type { CurveSet } from './evaluation-record.ts'
import type { RankedScores } from './scope-statistics.ts'

/** Steps of 2 %, and finer near 0, where a precision-first router works. */
const GRID: readonly number[] = [0, 0.0025, 0.005, 0.01, 0.015, ...Array.from({ length: 50 }, (_, i) => (i + 1) / 50)]
const RECALL_GRID = GRID.slice(1)

export function meanCurves(rotations: readonly RankedScores[]): CurveSet {
  const sweeps = rotations.map(({ test, scores, ranking }) => {
    const { mask, runWeights } = test.subsets.headline
    return sweepRanked(restrictRanking(ranking, mask), scores, test.labels, runWeights)
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
