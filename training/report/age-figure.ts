/**
 * Score against age: whether a score knows more than how old an interaction is. Pure.
 */
import * as Plot from '@observablehq/plot'
import { quantile } from '../../src/metrics/bootstrap.ts'
import type { PredictorRecord, SampledPair } from '../evaluation/evaluation-record.ts'
import type { Figure } from './figure.ts'
import { draw, shareAxis } from './plots.ts'

/** One dot per sampled pair; the two lines are medians per age, READY solid and KEEP dashed. */
export function scoreByAgeFigure({ name, sample }: PredictorRecord): Figure {
  const byLabel = ([0, 1] as const).map((label) => {
    const pairs = sample.filter((pair) => pair.label === label)
    return { label, pairs, medians: medianByAge(pairs) }
  })
  return {
    id: `score-by-age-${name}`,
    title: `Score by age: ${name}`,
    caption:
      'A sample of held-out pairs, as many READY (orange circles, solid median) as KEEP (blue crosses, dashed median). Where the lines lie apart at the same age, the score knows more than age.',
    svg: draw(
      `Score by age: ${name}`,
      {
        x: {
          type: 'log',
          label: 'age c - i, in interactions',
          labelAnchor: 'center',
          labelArrow: 'none',
          ticks: 5,
          tickFormat: '~f',
        },
        y: shareAxis('score p'),
      },
      byLabel.flatMap(({ label, pairs, medians }) => marksOf(label, pairs, medians)),
    ),
    data: { sample, medians: byLabel.map(({ label, medians }) => ({ label, points: medians })) },
  }
}

interface AgePoint {
  readonly age: number
  readonly score: number
}

function marksOf(label: 0 | 1, pairs: readonly SampledPair[], medians: readonly AgePoint[]): readonly Plot.Markish[] {
  const ready = label === 1
  const colour = ready ? 'var(--vermilion)' : 'var(--blue)'
  return [
    Plot.dot(pairs, {
      x: 'age',
      y: 'score',
      r: 2.2,
      dx: ready ? 3 : -3,
      symbol: ready ? 'circle' : 'times',
      stroke: colour,
      ...(ready ? { fill: colour, fillOpacity: 0.3 } : {}),
      strokeOpacity: 0.55,
    }),
    Plot.line(medians, {
      x: 'age',
      y: 'score',
      stroke: colour,
      strokeWidth: 2.6,
      strokeDasharray: ready ? 'none' : '6 3',
    }),
  ]
}

/** Medians in bins of ages that grow by half: few points, each with enough pairs. */
function medianByAge(sample: readonly SampledPair[]): readonly AgePoint[] {
  const bins = new Map<number, SampledPair[]>()
  for (const pair of sample) {
    const bin = Math.floor(Math.log(pair.age) / Math.log(1.5))
    bins.set(bin, [...(bins.get(bin) ?? []), pair])
  }
  const MIN_PAIRS = 5
  return [...bins]
    .filter(([, pairs]) => pairs.length >= MIN_PAIRS)
    .sort(([a], [b]) => a - b)
    .map(([, pairs]) => ({
      age: Math.exp(pairs.reduce((sum, pair) => sum + Math.log(pair.age), 0) / pairs.length),
      score: quantile(
        pairs.map((pair) => pair.score).sort((a, b) => a - b),
        0.5,
      ),
    }))
}
