import { describe, expect, it } from 'vitest'
import { annotateLineage, DEFAULT_LINEAGE, lineageName } from '../../../../data/annotate/lineage.ts'
import { runOf } from '../../evidence/run-of.ts'

const run = runOf({
  steps: [
    { sees: 'found first_word and other_word' },
    { reasoning: 'look at First_Word', sees: 'unused_word' },
    { text: 'plain words' },
    { call: '{"name": "first_word"}' },
    { text: 'plain words' },
  ],
})

describe('lineage annotator', () => {
  it('makes an interaction READY right after the last use of what it introduced, with quotes', () => {
    const row = annotateLineage(run)
    expect(row).toMatchObject({ schemaVersion: 1, trajectory: 'run', annotator: 'lineage', interactionCount: 5 })
    expect(row.labels[0]).toEqual({
      interaction: 0,
      boundary: 4,
      evidence: [
        { kind: 'uptake', interaction: 1, quote: 'First_Word' },
        { kind: 'veto', interaction: 3, quote: 'first_word' },
      ],
      reason: 'first taken up at 1, last used at 3',
    })
  })

  it('keeps what was never taken up and what introduced nothing', () => {
    const { labels } = annotateLineage(run)
    expect(labels[1]).toEqual({
      interaction: 1,
      boundary: null,
      evidence: [],
      reason: 'none of 1 introduced literals taken up',
    })
    expect(labels[2]).toMatchObject({ boundary: null, reason: 'introduced no literal' })
  })

  it('gives no veto where the boundary is the first checkpoint of the target', () => {
    const label = annotateLineage(runOf({ steps: [{ sees: 'a_word' }, { text: 'a_word' }, {}] })).labels[0]
    expect(label).toMatchObject({ boundary: 2, evidence: [{ kind: 'uptake', interaction: 1 }] })
    expect(label?.evidence.length).toBe(1)
  })

  it('with restated excuse, a use does not veto once another interaction restates the literal', () => {
    const steps = [{ sees: 'the_word' }, { text: 'the_word' }, {}, { text: 'the_word' }, {}]
    expect(annotateLineage(runOf({ steps })).labels[0]?.boundary).toBe(4)
    const excused = annotateLineage(runOf({ steps }), { ...DEFAULT_LINEAGE, restated: 'excuse' })
    expect(excused.annotator).toBe('lineage+restated-excuse')
    expect(excused.labels[0]?.boundary).toBe(2)
  })

  it('with any literal, evidence may be a literal that stood in the head', () => {
    const parts = { task: 'the_word', steps: [{ sees: 'the_word' }, { text: 'the_word' }, {}] }
    expect(annotateLineage(runOf(parts)).labels[0]?.boundary).toBeNull()
    expect(annotateLineage(runOf(parts), { ...DEFAULT_LINEAGE, anyLiteral: true }).labels[0]?.boundary).toBe(2)
  })

  it('names its options', () => {
    expect(lineageName({ restated: 'excuse', anyLiteral: true })).toBe('lineage+restated-excuse+any-literal')
  })

  it('quotes literals out of escaped arguments and around thousands separators', () => {
    const steps = [
      { sees: 'C:\\Users\\ann\\a.txt costs 1,234 for "Mia Li"' },
      { call: JSON.stringify({ path: 'C:\\Users\\ann\\a.txt' }) },
      { text: 'so $1,234' },
      { call: JSON.stringify({ say: 'to "Mia Li"\nnow' }) },
      {},
    ]
    expect(annotateLineage(runOf({ steps })).labels[0]).toMatchObject({
      boundary: 4,
      evidence: [
        { kind: 'uptake', interaction: 1 },
        { kind: 'veto', interaction: 3, quote: 'Mia Li' },
      ],
    })
  })
})
