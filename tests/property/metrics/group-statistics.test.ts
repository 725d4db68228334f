import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { auroc, rankedAuroc } from '../../../src/metrics/auroc.ts'
import { averagePrecision } from '../../../src/metrics/average-precision.ts'
import {
  drawGroups,
  pairedDifferenceInterval,
  pointEstimate,
  resampleStatistic,
} from '../../../src/metrics/bootstrap.ts'
import { groupedAuroc } from '../../../src/metrics/group-statistics.ts'
import { groupedAveragePrecision } from '../../../src/metrics/grouped-average-precision.ts'
import { rankByScore, restrictRanking } from '../../../src/metrics/ranking.ts'
import { createRng } from '../../../src/rng.ts'

const GROUPS = 5
const rows = fc.array(
  fc.record({
    score: fc.integer({ min: 0, max: 12 }),
    label: fc.integer({ min: 0, max: 1 }),
    group: fc.integer({ min: 0, max: GROUPS - 1 }),
    weight: fc.integer({ min: 0, max: 8 }).map((n) => n / 4),
  }),
  { minLength: 1, maxLength: 60 },
)
const multiplicities = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: GROUPS, maxLength: GROUPS })
type Row = { readonly score: number; readonly label: number; readonly group: number; readonly weight: number }

function columnsOf(list: readonly Row[]) {
  return {
    scores: list.map((row) => row.score),
    ranking: rankByScore(list.map((row) => row.score)),
    labels: list.map((row) => row.label),
    group: list.map((row) => row.group),
    weights: list.map((row) => row.weight),
    groups: GROUPS,
  }
}
const close = (a: number | null, b: number | null): boolean =>
  a === null || b === null ? a === b : Math.abs(a - b) <= 1e-9

describe('a resample', () => {
  test.prop([rows, multiplicities])(
    'has the metrics of the rows repeated as often as their group was drawn',
    (list, times) => {
      const columns = columnsOf(list)
      const repeated = list.map((row) => row.weight * (times[row.group] ?? 0))
      expect(close(groupedAuroc(columns)(times), auroc(columns.scores, columns.labels, repeated))).toBe(true)
      expect(
        close(groupedAveragePrecision(columns)(times), averagePrecision(columns.scores, columns.labels, repeated)),
      ).toBe(true)
    },
  )

  test.prop([rows, fc.integer(), fc.integer({ min: 1, max: 9 })])(
    'is the same whether draws are taken one by one or together, and whichever way the point value goes',
    (list, seed, resamples) => {
      const columns = columnsOf(list)
      const draws = drawGroups({ groups: GROUPS, resamples }, createRng(seed))
      for (const statistic of [groupedAuroc(columns), groupedAveragePrecision(columns)]) {
        const together = resampleStatistic(draws, statistic)
        for (let draw = 0; draw < resamples; draw++) {
          const alone = statistic(draws.counts.subarray(draw * GROUPS, (draw + 1) * GROUPS))
          expect(together[draw]).toBe(alone ?? Number.NaN)
        }
        expect(close(pointEstimate(GROUPS, statistic), statistic(new Array(GROUPS).fill(1)))).toBe(true)
      }
    },
  )

  test.prop([rows])('of a part of the rows ranks as if the others had never been there', (list) => {
    const { scores, labels, ranking } = columnsOf(list)
    const mask = list.map((row) => (row.group < 2 ? 1 : 0))
    const part = list.filter((row) => row.group < 2)
    const restricted = restrictRanking(ranking, mask)
    expect(Array.from(restricted.order, (row) => scores[row])).toEqual(
      part.map((row) => row.score).sort((a, b) => b - a),
    )
    expect(rankedAuroc(restricted, labels)).toBe(
      auroc(
        part.map((row) => row.score),
        part.map((row) => row.label),
      ),
    )
  })

  test.prop([fc.integer(), fc.integer({ min: 1, max: 20 })])('draws as many groups as there are', (seed, groups) => {
    const draws = drawGroups({ groups, resamples: 7 }, createRng(seed))
    for (let i = 0; i < 7; i++)
      expect(draws.counts.subarray(i * groups, (i + 1) * groups).reduce((a, b) => a + b, 0)).toBe(groups)
    expect(drawGroups({ groups, resamples: 7 }, createRng(seed))).toEqual(draws)
  })

  test.prop([rows, fc.integer()])('gives a paired difference of exactly 0 between a score and itself', (list, seed) => {
    const statistic = groupedAuroc(columnsOf(list))
    const draws = drawGroups({ groups: GROUPS, resamples: 20 }, createRng(seed))
    const values = resampleStatistic(draws, statistic)
    const interval = pairedDifferenceInterval(values, values)
    if (values.every((value) => Number.isNaN(value))) expect(interval).toBeNull()
    else expect(interval).toEqual({ low: 0, high: 0 })
  })
})
