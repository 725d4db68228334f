/**
 * How each predictor is drawn: colour, dash and order are the same in every figure, and no pair of lines differs by colour alone.
 * Colours are CSS variables (style.ts): Okabe-Ito hues, darkened on white and lightened on dark for contrast.
 */
import type { EvaluationRecord, PredictorRecord } from '../evaluation/evaluation-record.ts'

export interface Series {
  readonly predictor: PredictorRecord
  readonly colour: string
  /** SVG stroke-dasharray. */
  readonly dash: string
  readonly width: number
}

const STYLE: Readonly<Record<string, { readonly colour: string; readonly dash: string; readonly width: number }>> = {
  evidence: { colour: 'var(--vermilion)', dash: 'none', width: 2.4 },
  'hidden+evidence': { colour: 'var(--blue)', dash: '8 3', width: 2.4 },
  hidden: { colour: 'var(--green)', dash: '3 3', width: 2.4 },
  age: { colour: 'var(--grey)', dash: 'none', width: 1.4 },
  'age-position-length-lr': { colour: 'var(--grey)', dash: '6 3', width: 1.4 },
  'observation-tfidf-lr': { colour: 'var(--purple)', dash: '2 3', width: 1.6 },
}

/** Predictors drawn as lines: every trained input, and the three strongest kinds of baseline. */
export function seriesOf(record: EvaluationRecord): readonly Series[] {
  return Object.entries(STYLE).flatMap(([name, style]) => {
    const predictor = record.predictors.find((candidate) => candidate.name === name)
    return predictor === undefined ? [] : [{ predictor, ...style }]
  })
}
