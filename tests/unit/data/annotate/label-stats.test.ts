import { describe, expect, it } from 'vitest'
import type { InteractionLabel, LabelRow } from '../../../../data/annotate/label-record.ts'
import { labelStats, prevalence } from '../../../../data/annotate/label-stats.ts'
import { labelStatsText } from '../../../../data/annotate/label-stats-text.ts'
import { type LabelledRun, matchLabels } from '../../../../data/annotate/match-labels.ts'
import type { Trajectory } from '../../../../src/trajectory/trajectory.ts'
import { runOf } from '../../evidence/run-of.ts'

function run(id: string, domain: string, length: number): Trajectory {
  return runOf({ id, domain, steps: Array.from({ length }, () => ({})) })
}

function rowOf(trajectory: Trajectory, boundaries: readonly (number | null)[]): LabelRow {
  const labels = trajectory.interactions.map(
    ({ index }): InteractionLabel => ({
      interaction: index,
      boundary: boundaries[index] ?? null,
      evidence: [],
      reason: '',
    }),
  )
  return {
    schemaVersion: 1,
    trajectory: trajectory.id,
    annotator: 'hand',
    interactionCount: trajectory.interactions.length,
    labels,
  }
}

function labelled(trajectory: Trajectory, boundaries: readonly (number | null)[]): LabelledRun {
  return { trajectory, row: rowOf(trajectory, boundaries) }
}

describe('label statistics', () => {
  it('count pairs of checkpoints 2 .. N-1 with targets before the newest', () => {
    // N = 5: checkpoints 2, 3, 4 with 1, 2, 3 targets; READY: (0,3) (0,4) and (2,4).
    const stats = labelStats([labelled(run('a', 'x', 5), [3, null, 4])])
    expect(stats.all).toEqual({ pairs: 6, ready: 3 })
    expect(stats.withFuture).toEqual({ pairs: 0, ready: 0 })
    expect(stats.byAge.slice(0, 3)).toEqual([
      { name: '2', pairs: 3, ready: 1 },
      { name: '3-4', pairs: 3, ready: 2 },
      { name: '5-8', pairs: 0, ready: 0 },
    ])
  })

  it('count pairs with five or more interactions to come beside all', () => {
    // N = 8: checkpoints 2 and 3 have 6 and 5 to come.
    const stats = labelStats([labelled(run('a', 'x', 8), [3])])
    expect(stats.all).toEqual({ pairs: 21, ready: 5 })
    expect(stats.withFuture).toEqual({ pairs: 3, ready: 1 })
  })

  it('split by domain, weigh runs alike beside, and flag runs cut by a limit', () => {
    const cut = { ...run('b', 'y', 4), truncated: true }
    const stats = labelStats([labelled(run('a', 'z', 3), [2]), labelled(cut, []), labelled(run('c', 'y', 2), [])])
    expect(stats.byDomain).toEqual([
      { name: 'y', runs: 2, pairs: 3, ready: 0, withFuture: { pairs: 0, ready: 0 } },
      { name: 'z', runs: 1, pairs: 1, ready: 1, withFuture: { pairs: 0, ready: 0 } },
    ])
    expect(stats.meanRunPrevalence).toBe(0.5)
    expect(prevalence(stats.all)).toBe(0.25)
    expect(stats.truncated).toEqual({ runs: 1, pairs: 3 })
  })

  it('put every interaction that is ever a target into one boundary bucket', () => {
    const stats = labelStats([labelled(run('a', 'x', 6), [2, 4, 6, null, 6, null])])
    expect(stats.boundaries.filter((bucket) => bucket.interactions > 0)).toEqual([
      { name: '2', interactions: 1 },
      { name: '3-4', interactions: 1 },
      { name: 'at the end', interactions: 1 },
      { name: 'never', interactions: 1 },
    ])
  })

  it('read as tables and bars', () => {
    const text = labelStatsText(labelStats([labelled(run('a', 'coding', 5), [3, null, 4])]))
    expect(text).toContain('1 runs, 5 interactions, labelled by hand')
    expect(text).toContain('6, READY 3 (50.0 %)')
    expect(text).toMatch(/coding +1 +6 +50\.0 % +0 +-/)
    expect(text).toMatch(/never +1 +\u2588{40}/)
  })
})

describe('matching labels to runs', () => {
  const one = run('one', 'x', 3)
  const two = run('two', 'x', 4)

  it('keeps the order of the runs and leaves out runs without labels', () => {
    const matched = matchLabels([one, two, run('three', 'x', 3)], [rowOf(two, []), rowOf(one, [])])
    expect(matched.map(({ trajectory, row }) => [trajectory.id, row.trajectory])).toEqual([
      ['one', 'one'],
      ['two', 'two'],
    ])
  })

  it('says labels-mismatch for labels of other runs', () => {
    expect(() => matchLabels([one], [rowOf(two, [])])).toThrow(expect.objectContaining({ code: 'labels-mismatch' }))
    expect(() => matchLabels([{ ...two, id: 'one' }], [rowOf(one, [])])).toThrow('3 interactions, the run has 4')
    const stray = rowOf(one, [])
    const labels = stray.labels.map((label) => ({ ...label, interaction: label.interaction + 1 }))
    expect(() => matchLabels([one], [{ ...stray, labels }])).toThrow('interaction 3 does not exist')
  })
})
