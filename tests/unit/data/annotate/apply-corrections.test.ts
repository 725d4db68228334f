import { describe, expect, it } from 'vitest'
import { applyCorrections, type Correction, editedName } from '../../../../data/annotate/apply-corrections.ts'
import { rowProblems } from '../../../../data/annotate/check-evidence.ts'
import { annotateLineage } from '../../../../data/annotate/lineage.ts'
import { runOf } from '../../evidence/run-of.ts'

const run = runOf({
  id: 'a',
  steps: [{ sees: 'the_word and more' }, { text: 'the_word' }, { text: 'plain text here' }, { text: 'the_word' }, {}],
})
const other = runOf({ id: 'b', steps: [{}, {}, {}] })
const runs = [run, other]
const rows = runs.map((one) => annotateLineage(one))

/** Lineage says: interaction 0 is READY from 4 (taken up at 1, last used at 3). */
const base: Correction = { run: 'a', interaction: 0, boundary: 3, reason: 'said so', reviewer: 'ann' }

function apply(...corrections: readonly Partial<Correction>[]): ReturnType<typeof applyCorrections> {
  return applyCorrections({
    runs,
    rows,
    corrections: corrections.map((change, at) => ({ line: at + 1, correction: { ...base, ...change } })),
  })
}

describe('corrections', () => {
  it('set the boundary, keep the evidence that still holds, and keep the old verdict in the reason', () => {
    const result = apply({})
    if (!result.ok) throw new Error(result.problems[0]?.reason)
    expect(result.rows[0]?.labels[0]).toEqual({
      interaction: 0,
      boundary: 3,
      evidence: [
        { kind: 'uptake', interaction: 1, quote: 'the_word' },
        { kind: 'veto', interaction: 3, quote: 'the_word' },
      ],
      reason:
        'ann: said so [before: READY from 4, first taken up at 1, last used at 3; uptake 1 "the_word", veto 3 "the_word"]',
    })
    expect(result.applied).toMatchObject([{ line: 1, before: { boundary: 4 }, after: { boundary: 3 } }])
    expect(result.rows.every((row, at) => rowProblems(runs[at] ?? run, row).length === 0)).toBe(true)
  })

  it('name the reviewers in the annotator of corrected rows, and leave all else as it was', () => {
    const result = apply({}, { interaction: 2, boundary: null, reviewer: 'bob' })
    if (!result.ok) throw new Error(result.problems[0]?.reason)
    expect(result.rows.map((row) => row.annotator)).toEqual(['lineage+edits:ann,bob', 'lineage'])
    expect(result.rows[1]).toBe(rows[1])
    expect(result.rows[0]?.labels[1]).toBe(rows[0]?.labels[1])
    expect(editedName('lineage+edits:zoe', ['ann', 'zoe'])).toBe('lineage+edits:ann,zoe')
  })

  it('take new evidence whose quotes stand there word for word', () => {
    const evidence = [{ kind: 'uptake' as const, interaction: 2, quote: 'plain  text' }]
    expect(apply({ boundary: 2, evidence })).toMatchObject({ ok: false })
    expect(apply({ boundary: 3, evidence })).toMatchObject({ ok: true })
    expect(apply({ boundary: null, evidence: [] })).toMatchObject({ ok: true })
  })

  it('drop vetoes that no longer stand behind the boundary', () => {
    const result = apply({ boundary: 5 })
    if (!result.ok) throw new Error(result.problems[0]?.reason)
    expect(result.rows[0]?.labels[0]?.evidence).toEqual([{ kind: 'uptake', interaction: 1, quote: 'the_word' }])
  })

  it('are applied all or none, and every wrong line is named with its reason', () => {
    const result = apply(
      {},
      { run: 'zz' },
      { interaction: 7 },
      { interaction: 1, boundary: 2 },
      { interaction: 3, boundary: 6 },
      { interaction: 2, boundary: 4 },
      { reason: 'again' },
      { run: 'b', boundary: 2, evidence: [{ kind: 'uptake', interaction: 1, quote: 'never said' }] },
    )
    if (result.ok) throw new Error('was applied')
    expect(result.problems.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8])
    expect(result.problems.map(({ reason }) => reason)).toEqual([
      'there is no run "zz" in the runs file',
      "interaction 7 has no label: the run's interactions are 0 to 4",
      'boundary 2 is too early: interaction 1 is a target from 3 on; null means KEEP everywhere',
      "boundary 6 is past the run's 5 interactions; null means KEEP everywhere",
      'interaction 2: READY from 4 without evidence of uptake (no item of the old evidence supports this boundary: give "evidence")',
      'line 1 corrects interaction 0 of this run already',
      'interaction 0: the quote "never said" does not stand in it',
    ])
  })

  it('refuse runs without labels, and labels of another version of the run', () => {
    const corrections = [{ line: 1, correction: base }]
    expect(applyCorrections({ runs, rows: [], corrections })).toMatchObject({
      problems: [{ reason: 'the labels file has no row for run "a"' }],
    })
    expect(applyCorrections({ runs: [runOf({ id: 'a', steps: [{}] })], rows, corrections })).toMatchObject({
      problems: [{ reason: 'the labels were made from 5 interactions, the run has 1' }],
    })
  })
})
