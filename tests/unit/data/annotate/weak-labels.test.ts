import { describe, expect, it } from 'vitest'
import { labelCurves } from '../../../../data/annotate/label-curves.ts'
import type { LabelRow } from '../../../../data/annotate/label-record.ts'
import { labelStats } from '../../../../data/annotate/label-stats.ts'
import type { LabelledRun } from '../../../../data/annotate/match-labels.ts'
import { compactionAgreement, mistakeAgreement, writeAgreement } from '../../../../data/annotate/weak-labels.ts'
import type { Trajectory } from '../../../../src/trajectory/trajectory.ts'
import { runOf, type Step } from '../../evidence/run-of.ts'

function labelled(run: Trajectory, boundaries: readonly (number | null)[]): LabelledRun {
  const row: LabelRow = {
    schemaVersion: 1,
    trajectory: run.id,
    annotator: 'hand',
    interactionCount: run.interactions.length,
    labels: run.interactions.map(({ index }) => ({
      interaction: index,
      boundary: boundaries[index] ?? null,
      evidence: [],
      reason: '',
    })),
  }
  return { trajectory: run, row }
}

const steps = (count: number, step: Step = {}): readonly Step[] => Array.from({ length: count }, () => step)

describe('curves of labels', () => {
  it('count the same pairs as the statistics, whichever way they are cut', () => {
    const runs = [
      labelled(runOf({ id: 'a', domain: 'x', steps: steps(9, { sees: 'y'.repeat(300) }) }), [4, null, 5]),
      labelled(runOf({ id: 'b', domain: 'z', steps: steps(6) }), [2, 3]),
    ]
    const stats = labelStats(runs)
    const [all, x] = labelCurves(runs)
    expect(all?.all).toEqual(stats.all)
    expect(all?.withFuture).toEqual(stats.withFuture)
    expect(all?.age).toEqual(stats.byAge)
    for (const counts of [all?.age, all?.position, all?.sourceLength] as const)
      expect(counts?.reduce((sum, count) => sum + count.ready, 0)).toBe(stats.all.ready)
    expect(x?.sourceLength.filter((count) => count.pairs > 0).map((count) => count.name)).toEqual(['256-1023'])
    expect(labelCurves(runs).map(({ name, runs: count }) => [name, count])).toEqual([
      ['all', 2],
      ['x', 1],
      ['z', 1],
    ])
  })

  it('give the AUROC of age alone, and none without both classes', () => {
    const both = labelCurves([labelled(runOf({ steps: steps(6) }), [4])])[0]
    expect(both?.ageAuroc).toBeGreaterThan(0.8)
    expect(labelCurves([labelled(runOf({ steps: steps(6) }), [])])[0]?.ageAuroc).toBeNull()
  })
})

describe('weak labels', () => {
  it('hold what a compaction replaced against what it kept', () => {
    const run = {
      ...runOf({ domain: 'pi', steps: steps(8) }),
      marks: [{ kind: 'compaction' as const, before: 5, keptFrom: 2 }],
    }
    const [found] = compactionAgreement([labelled(run, [3, null, 5, null])])
    expect(found).toMatchObject({ source: 'pi', marks: 1, runs: 1 })
    // At checkpoint 5: targets 0 and 1 were replaced, 2 and 3 kept.
    expect(found?.more).toMatchObject({ pairs: 2, ready: 1 })
    expect(found?.less).toMatchObject({ pairs: 2, ready: 1 })
  })

  it('take a summary for a compaction of all before it, where the log says no more', () => {
    const run = runOf({ steps: steps(6), turns: [{ before: 4, kind: 'summary', text: 'so far' }] })
    expect(compactionAgreement([labelled(run, [2])])[0]).toMatchObject({
      more: { pairs: 3, ready: 1 },
      less: { pairs: 0 },
    })
    const outside = runOf({ steps: steps(3), turns: [{ before: 1, kind: 'summary', text: 'so far' }] })
    expect(compactionAgreement([labelled(outside, [])])).toEqual([])
  })

  it('expect of each pair what its age has in its source', () => {
    const run = { ...runOf({ steps: steps(4) }), marks: [{ kind: 'compaction' as const, before: 3, keptFrom: 1 }] }
    // Pairs: (0,2) READY, (0,3) READY, (1,3) KEEP. Age 2: 1 of 2; ages 3-4: 1 of 1.
    expect(compactionAgreement([labelled(run, [2])])[0]).toMatchObject({
      more: { pairs: 1, ready: 1, expected: 1 },
      less: { pairs: 1, ready: 0, expected: 0.5 },
    })
  })

  it('hold mistake steps against their neighbours', () => {
    const run = { ...runOf({ steps: steps(6) }), marks: [{ kind: 'mistake' as const, interaction: 1 }] }
    const [found] = mistakeAgreement([labelled(run, [null, 3])])
    expect(found?.more).toMatchObject({ pairs: 3, ready: 3 })
    expect(found?.less).toMatchObject({ pairs: 4 + 2, ready: 0 })
  })

  it('hold look-ups after the last write of a tau-bench run against those with a write to come', () => {
    const base = runOf({ domain: 'tau-bench', steps: steps(7, { call: '{}' }) })
    const run: Trajectory = {
      ...base,
      interactions: base.interactions.map((interaction) => ({
        ...interaction,
        toolCalls:
          interaction.index === 2
            ? []
            : interaction.toolCalls.map((call) => ({
                ...call,
                name: interaction.index === 3 ? 'book_reservation' : 'get_user_details',
              })),
      })),
    }
    const [found] = writeAgreement([labelled(run, [4, 4])])
    // Look-ups 0 and 1 (2 makes no call). To come: (0,2) (0,3) (1,3); done: c = 4, 5, 6 of each.
    expect(found).toMatchObject({
      source: 'tau-bench',
      marks: 1,
      less: { pairs: 3, ready: 0 },
      more: { pairs: 6, ready: 6 },
    })
    expect(writeAgreement([labelled({ ...run, domain: 'other' }, [])])).toEqual([])
  })
})
