/**
 * How each predictor is drawn: colour, dash and order are the same in every figure, and no pair of lines differs by colour alone.
 * Colours are CSS variables (style.ts): Okabe-Ito hues, darkened on white and lightened on dark for contrast.
 */
import type { EvaluationRecord, PredictorRecord } from '../evaluation/evaluation-record.ts'

/** How a line is drawn. */
export interface LineStyle {
  readonly colour: string
  /** SVG stroke-dasharray. */
  readonly dash: string
  readonly width: number
}

export interface Series extends LineStyle {
  readonly predictor: PredictorRecord
}

const STYLE: Readonly<Record<string, LineStyle>> = {
  evidence: { colour: 'var(--vermilion)', dash: 'none', width: 2.4 },
  'hidden+evidence': { colour: 'var(--blue)', dash: '8 3', width: 2.4 },
  hidden: { colour: 'var(--green)', dash: '3 3', width: 2.4 },
  age: { colour: 'var(--grey)', dash: 'none', width: 1.4 },
  'age-position-length-lr': { colour: 'var(--grey)', dash: '6 3', width: 1.4 },
  'observation-tfidf-lr': { colour: 'var(--purple)', dash: '2 3', width: 1.6 },
}

/** For lines without a name of their own: five hues, then the same hues with other dashes. */
const HUES = ['var(--blue)', 'var(--vermilion)', 'var(--green)', 'var(--purple)', 'var(--grey)']
const DASHES = ['none', '8 3', '3 3', '10 3 2 3', '2 4']

/** The predictor's own style, or one that no other position has. */
export function lineStyleOf(name: string, at: number): LineStyle {
  const turn = Math.floor(at / HUES.length)
  return (
    STYLE[name] ?? {
      colour: HUES[at % HUES.length] ?? 'var(--ink)',
      dash: DASHES[(at + turn) % DASHES.length] ?? 'none',
      width: 1.8,
    }
  )
}

/** Predictors drawn as lines: every trained input, and the three strongest kinds of baseline. */
export function seriesOf(record: EvaluationRecord): readonly Series[] {
  return Object.entries(STYLE).flatMap(([name, style]) => {
    const predictor = record.predictors.find((candidate) => candidate.name === name)
    return predictor === undefined ? [] : [{ predictor, ...style }]
  })
}
