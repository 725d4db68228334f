/**
 * Reliability before and after calibration: mean score against share of READY per bin. Pure.
 */
import * as Plot from '@observablehq/plot'
import type { ReliabilityBin } from '../../src/metrics/calibration.ts'
import type { PredictorRecord } from '../evaluation/evaluation-record.ts'
import type { Figure } from './figure.ts'
import { diagonal, draw, shareAxis, strokeOf } from './plots.ts'
import type { Series } from './series.ts'

const STEPS = [
  {
    id: 'reliability',
    column: 'calibration',
    title: 'Reliability: scores as they are',
    caption:
      'On the diagonal a score is a probability; a larger dot holds more pairs. Trained with a weight on READY, raw scores of a router stand below it.',
  },
  {
    id: 'reliability-temperature',
    column: 'temperature',
    title: 'Reliability: temperature',
    caption:
      'Logits divided by one number and shifted by another per rotation, both fitted on validation groups: the ranking stays, scores come back to the diagonal as far as two numbers allow.',
  },
  {
    id: 'reliability-isotonic',
    column: 'calibrated',
    title: 'Reliability: isotonic map',
    caption:
      'After a rising step function per rotation, fitted on validation groups that no threshold was chosen on: what the policy cost reads.',
  },
] as const

/** Figures of the steps that some predictor has. */
export function reliabilityFigures(series: readonly Series[]): readonly Figure[] {
  return STEPS.flatMap(({ id, column, title, caption }): readonly Figure[] => {
    const shown = series.flatMap((one) => {
      const bins = binsOf(one.predictor, column)
      return bins.length === 0 ? [] : [{ ...one, bins }]
    })
    if (shown.length === 0) return []
    const marks = shown.flatMap((one) => [
      Plot.line(one.bins, { x: 'meanScore', y: 'meanLabel', ...strokeOf(one) }),
      Plot.dot(one.bins, {
        x: 'meanScore',
        y: 'meanLabel',
        r: (bin: ReliabilityBin) => 2 + 7 * Math.sqrt(bin.share),
        fill: one.colour,
        fillOpacity: 0.35,
        stroke: one.colour,
      }),
    ])
    return [
      {
        id,
        title,
        caption,
        svg: draw(
          `${title}: share of READY by mean score`,
          // Dot radii are pixels, not values of a scale.
          { x: shareAxis('mean score'), y: shareAxis('share of READY'), r: { type: 'identity' } },
          [diagonal(), ...marks],
        ),
        data: { series: shown.map(({ predictor, bins }) => ({ name: predictor.name, bins })) },
      },
    ]
  })
}

function binsOf(predictor: PredictorRecord, column: (typeof STEPS)[number]['column']): readonly ReliabilityBin[] {
  return (predictor.subsets.headline[column]?.bins ?? []).filter((bin) => bin.share > 0)
}
