import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { labelAgreement } from '../../../../data/annotate/label-agreement.ts'
import { type LabelRow, labelAt } from '../../../../data/annotate/label-record.ts'

function row(trajectory: string, boundaries: readonly (number | null)[], annotator = 'one'): LabelRow {
  return {
    schemaVersion: 1,
    trajectory,
    annotator,
    interactionCount: boundaries.length,
    labels: boundaries.map((boundary, interaction) => ({ interaction, boundary, evidence: [], reason: '' })),
  }
}

describe('agreement of two files of labels', () => {
  it('counts pairs, kappa and boundaries', () => {
    // N = 5. Pairs: (0,2) (0,3) (0,4) (1,3) (1,4) (2,4). A: (0,3) (0,4) (2,4). B: (0,2) (0,3) (0,4).
    const found = labelAgreement([row('a', [3, null, 4, null, null])], [row('a', [2, null, null, null, null], 'two')])
    expect(found.table).toEqual({ bothReady: 2, onlyA: 1, onlyB: 1, bothKeep: 2 })
    expect([found.pairs, found.same]).toEqual([6, 4 / 6])
    expect(found.kappa).toBeCloseTo(1 / 3, 12)
    expect(found.boundaries).toEqual({
      bothNever: 1,
      onlyA: 1,
      onlyB: 0,
      equal: 0,
      earlier: 1,
      later: 0,
      differences: [[-1, 1]],
    })
    expect([found.annotatorsA, found.annotatorsB]).toEqual([['one'], ['two']])
  })

  it('lists what they differ on, most checkpoints first', () => {
    const { disagreements } = labelAgreement(
      [row('a', [2, null, null, null]), row('b', [null, null, null, null, null])],
      [row('a', [3, null, null, null]), row('b', [3, 3, null, null, null])],
    )
    expect(disagreements).toEqual([
      { trajectory: 'b', interaction: 0, boundaryA: null, boundaryB: 3, pairs: 2 },
      { trajectory: 'b', interaction: 1, boundaryA: null, boundaryB: 3, pairs: 2 },
      { trajectory: 'a', interaction: 0, boundaryA: 2, boundaryB: 3, pairs: 1 },
    ])
  })

  it('names the runs that only one file has, and interactions that only one row has', () => {
    const shorter = row('b', [null, null, null])
    const found = labelAgreement(
      [row('a', [null, null, null]), row('b', [null, null, null])],
      [{ ...shorter, labels: shorter.labels.slice(0, 1) }, row('c', [null])],
    )
    expect([found.runs, found.onlyInA, found.onlyInB, found.unmatchedInteractions]).toEqual([1, ['a'], ['c'], 2])
    expect(found.kappa).toBeNull()
  })

  it('splits by domain when it is told the domains', () => {
    const a = [row('x/1', [2, null, null]), row('y/1', [2, null, null]), row('y/2', [null, null, null])]
    const b = [row('x/1', [2, null, null]), row('y/1', [null, null, null]), row('y/2', [2, null, null])]
    const { byDomain } = labelAgreement(a, b, (id) => id.slice(0, 1))
    expect(byDomain.map(({ name, runs, pairs, same }) => [name, runs, pairs, same])).toEqual([
      ['x', 1, 1, 1],
      ['y', 2, 2, 0],
    ])
    expect(byDomain[1]?.kappa).toBe(-1)
  })

  it('refuses files without a common run, and labels of another version of a run', () => {
    expect(() => labelAgreement([row('a', [null])], [row('b', [null])])).toThrow(
      expect.objectContaining({ code: 'labels-mismatch' }),
    )
    expect(() => labelAgreement([row('a', [null])], [row('a', [null, null])])).toThrow(/from 1 and from 2 interactions/)
  })

  const boundaries = fc.integer({ min: 1, max: 9 }).chain((length) =>
    fc.tuple(
      ...[0, 1].map(() =>
        fc.tuple(
          ...Array.from({ length }, (_, i) =>
            fc.option(
              fc.nat(length).map((delay) => i + 2 + delay),
              { nil: null },
            ),
          ),
        ),
      ),
    ),
  )

  test.prop([boundaries])('counts what going through all pairs counts', ([first = [], second = []]) => {
    const a = row('a', first)
    const b = row('a', second)
    const table = { bothReady: 0, onlyA: 0, onlyB: 0, bothKeep: 0 }
    for (let c = 2; c < first.length; c++) {
      for (let i = 0; i < c - 1; i++) {
        const said = [a, b].map(
          ({ labels }) => labels.filter((label) => label.interaction === i).map((label) => labelAt(label, c))[0],
        )
        table[said[0] === 1 ? (said[1] === 1 ? 'bothReady' : 'onlyA') : said[1] === 1 ? 'onlyB' : 'bothKeep']++
      }
    }
    const found = labelAgreement([a], [b])
    expect(found.table).toEqual(table)
    expect(found.disagreements.reduce((sum, one) => sum + one.pairs, 0)).toBe(table.onlyA + table.onlyB)
    const { bothNever, onlyA, onlyB, equal, earlier, later } = found.boundaries
    expect(bothNever + onlyA + onlyB + equal + earlier + later).toBe(Math.max(0, first.length - 2))
  })
})
