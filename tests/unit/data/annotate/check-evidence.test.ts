import { describe, expect, it } from 'vitest'
import { checkRow, evidenceProblem, quoteOccurs, rowProblems } from '../../../../data/annotate/check-evidence.ts'
import type { EvidenceItem, InteractionLabel, LabelRow } from '../../../../data/annotate/label-record.ts'
import { annotateLineage } from '../../../../data/annotate/lineage.ts'
import { AppError } from '../../../../src/errors.ts'
import { runOf } from '../../evidence/run-of.ts'

const run = runOf({
  steps: [{ sees: 'the_word' }, { text: 'use\n  the_word' }, {}, { call: '{"q":"a \\"the_word\\" b"}' }, {}],
})

function problem(item: EvidenceItem, checkpoint: number): string | null {
  return evidenceProblem(run, { target: 0, checkpoint, item })
}

function rowWith(label: Partial<InteractionLabel>): LabelRow {
  const row = annotateLineage(run)
  return { ...row, labels: row.labels.map((old, at) => (at === 0 ? { ...old, ...label } : old)) }
}

describe('evidence check', () => {
  it('accepts quotes that stand in the interaction, whatever the blanks', () => {
    expect(problem({ kind: 'uptake', interaction: 1, quote: 'use the_word' }, 2)).toBeNull()
    expect(problem({ kind: 'veto', interaction: 3, quote: 'a "the_word" b' }, 3)).toBeNull()
    expect(quoteOccurs('run_tool(', run.interactions[3] ?? run.interactions[0] ?? failed())).toBe(true)
  })

  it('refuses uptake at or after the checkpoint and a veto before it', () => {
    expect(problem({ kind: 'uptake', interaction: 3, quote: 'the_word' }, 3)).toMatch('is not before checkpoint 3')
    expect(problem({ kind: 'veto', interaction: 1, quote: 'the_word' }, 2)).toMatch('is before checkpoint 2')
  })

  it('refuses items that do not come after their target', () => {
    expect(problem({ kind: 'uptake', interaction: 0, quote: 'the_word' }, 2)).toMatch('does not come after')
  })

  it('refuses quotes that are empty or stand nowhere, and interactions that do not exist', () => {
    expect(problem({ kind: 'uptake', interaction: 1, quote: ' ' }, 2)).toMatch('is empty')
    expect(problem({ kind: 'uptake', interaction: 1, quote: 'The_Word' }, 2)).toMatch('does not stand in it')
    expect(problem({ kind: 'veto', interaction: 9, quote: 'the_word' }, 2)).toMatch('there is no interaction 9')
  })

  it('finds what is wrong with a row', () => {
    expect(rowProblems(run, annotateLineage(run))).toEqual([])
    expect(rowProblems(run, rowWith({ boundary: 1 }))).toContainEqual(expect.stringMatching('newest interaction READY'))
    expect(rowProblems(run, rowWith({ evidence: [] }))).toContainEqual(expect.stringMatching('without evidence'))
    expect(rowProblems(run, rowWith({ interaction: 7 }))).toContainEqual(expect.stringMatching('does not exist'))
    expect(rowProblems(run, rowWith({ interaction: 1 }))).toContainEqual(expect.stringMatching('labelled twice'))
    const later = { kind: 'uptake', interaction: 3, quote: 'the_word' } as const
    expect(rowProblems(run, rowWith({ boundary: 3, evidence: [later] }))).toContainEqual(
      expect.stringMatching('not before checkpoint 3'),
    )
    expect(rowProblems(run, { ...annotateLineage(run), interactionCount: 9 })).toHaveLength(1)
    expect(rowProblems(run, { ...annotateLineage(run), trajectory: 'other' })).toHaveLength(1)
  })

  it('throws rows-invalid naming the run and the first problem', () => {
    expect(() => checkRow(run, rowWith({ evidence: [] }))).toThrow(
      expect.objectContaining({ code: 'rows-invalid', message: expect.stringMatching('labels of run by lineage') }),
    )
  })
})

function failed(): never {
  throw new AppError('invariant', 'the fixture has interactions')
}
