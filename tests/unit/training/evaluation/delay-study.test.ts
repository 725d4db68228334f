import { describe, expect, it } from 'vitest'
import { delayRecord } from '../../../../training/evaluation/delay-study.ts'
import type { InteractionFate } from '../../../../training/evaluation/first-selections.ts'

const fate = (boundary: number, first: number | null): InteractionFate => ({
  group: 0,
  boundary,
  first,
  becomesReady: boundary !== -1,
})
const delayAt = (record: ReturnType<typeof delayRecord>, level: number) =>
  record.quantiles.find((one) => one.level === level)

describe('the distribution of delays', () => {
  it('tells timely, premature and missed calls apart', () => {
    const record = delayRecord([fate(5, 5), fate(5, 9), fate(5, 3), fate(-1, 4), fate(5, null), fate(-1, null)])
    expect(record).toMatchObject({ becomeReady: 4, caught: 3, called: 4, premature: 2, prematureWithoutBoundary: 1 })
    expect(delayAt(record, 0.5)).toMatchObject({ delay: 2, lead: 2 })
    expect(record.histogram.map(({ delay, interactions }) => [delay, interactions])).toEqual([
      [-2, 1],
      [-1, 0],
      [0, 1],
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 1],
    ])
  })

  it('counts what is never called as never, so that missing the slow ones does not look fast', () => {
    const record = delayRecord([fate(5, 6), fate(5, 7), fate(5, null), fate(5, null)])
    expect(delayAt(record, 0.5)).toMatchObject({ delayOrNever: 2 })
    expect(delayAt(record, 0.75)).toMatchObject({ delay: 1.75, delayOrNever: null })
  })

  it('keeps far delays in the outer bars', () => {
    expect(delayRecord([fate(5, 500), fate(400, 2)]).histogram.filter((bar) => bar.interactions > 0)).toEqual([
      { delay: -20, interactions: 1 },
      { delay: 20, interactions: 1 },
    ])
  })

  it('has no quantile where nothing was called', () => {
    const record = delayRecord([fate(5, null)])
    expect(delayAt(record, 0.5)).toEqual({ level: 0.5, delay: null, delayOrNever: null, lead: null })
    expect(record.histogram).toEqual([])
  })
})
