/**
 * What a file of labels holds by itself; with the runs beside it, `label-stats.ts` counts by domain. Pure.
 */
import { type LabelRow, labelAt } from '../annotate/label-record.ts'
import type { PairCount } from '../annotate/label-stats.ts'
import { type Distribution, distributionOf } from './distribution.ts'

export interface LabelsCard {
  readonly kind: 'labels'
  readonly runs: number
  readonly interactions: number
  readonly byAnnotator: readonly (PairCount & { readonly name: string; readonly runs: number })[]
  readonly all: PairCount
  /** Interactions that become READY at some checkpoint, and b_i - i of those. */
  readonly ready: number
  readonly delay: Distribution
  readonly evidenceItems: { readonly uptake: number; readonly veto: number }
}

export function inspectLabels(rows: readonly LabelRow[]): LabelsCard {
  const annotators = new Map<string, { runs: number; pairs: number; ready: number }>()
  const all = { pairs: 0, ready: 0 }
  const delays: number[] = []
  const evidenceItems = { uptake: 0, veto: 0 }
  for (const row of rows) {
    const own = annotators.get(row.annotator) ?? { runs: 0, pairs: 0, ready: 0 }
    annotators.set(row.annotator, own)
    own.runs++
    for (const label of row.labels) {
      for (const item of label.evidence) evidenceItems[item.kind]++
      if (label.boundary !== null && label.boundary < row.interactionCount)
        delays.push(label.boundary - label.interaction)
      for (let checkpoint = label.interaction + 2; checkpoint < row.interactionCount; checkpoint++) {
        const ready = labelAt(label, checkpoint)
        for (const counts of [all, own]) {
          counts.pairs++
          counts.ready += ready
        }
      }
    }
  }
  return {
    kind: 'labels',
    runs: rows.length,
    interactions: rows.reduce((sum, row) => sum + row.interactionCount, 0),
    byAnnotator: [...annotators].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, own]) => ({ name, ...own })),
    all,
    ready: delays.length,
    delay: distributionOf(delays),
    evidenceItems,
  }
}
