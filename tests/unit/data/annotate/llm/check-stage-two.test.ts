import { describe, expect, it } from 'vitest'
import { readStageTwo, type TargetRecords } from '../../../../../data/annotate/llm/check-stage-two.ts'
import type { RunText } from '../../../../../data/annotate/llm/run-text.ts'
import type { StageOneRecord } from '../../../../../data/annotate/llm/stage-one.schema.ts'
import { runOf } from '../../../evidence/run-of.ts'

const trajectory = runOf({
  steps: Array.from({ length: 9 }, (_, at) => ({ text: `step_number_${at} is done`, sees: `result_of_${at}` })),
})
const run: RunText = { original: trajectory, sent: trajectory }

function record(judgement: 'READY' | 'KEEP', veto: number | null = null): StageOneRecord {
  return {
    interaction: 0,
    taskProgress: '',
    observationComplexity: '',
    nextNeeds: '',
    remainingUtility: 'low',
    evidence: [],
    futureDependency: veto === null ? null : { interaction: veto, quote: `step_number_${veto}` },
    judgement,
    reason: '',
  }
}

/** KEEP at 2 and 3, READY at 4 and 5, KEEP at 6, READY at 7, none at 8. */
const RECORDS: TargetRecords = [
  { checkpoint: 2, record: record('KEEP', 3) },
  { checkpoint: 3, record: record('KEEP') },
  { checkpoint: 4, record: record('READY') },
  { checkpoint: 5, record: record('READY') },
  { checkpoint: 6, record: record('KEEP') },
  { checkpoint: 7, record: record('READY') },
  { checkpoint: 8, record: null },
]

const RIGHT = {
  rechecks: [{ checkpoint: 4, supported: true, reason: 'used' }],
  vetoes: [],
  dismissed: [],
  overruled: [{ checkpoint: 6, reason: 'nothing needed it' }],
  boundary: 4,
  evidence: [{ interaction: 3, quote: 'step_number_3 is done' }],
  reason: 'used at 3',
}

function read(change: Readonly<Record<string, unknown>>, records = RECORDS): ReturnType<typeof readStageTwo> {
  return readStageTwo(run, { target: 0, records }, { kind: 'text', text: JSON.stringify({ ...RIGHT, ...change }) })
}

function codes(change: Readonly<Record<string, unknown>>, records = RECORDS): readonly string[] {
  const reading = read(change, records)
  return reading.ok ? [] : reading.problems.map((problem) => problem.code)
}

describe('a stage-2 verdict', () => {
  it('that holds gives boundary, evidence, and the vetoes before it', () => {
    expect(read({})).toEqual({
      ok: true,
      verdict: {
        boundary: 4,
        evidence: RIGHT.evidence,
        vetoes: [{ interaction: 3, quote: 'step_number_3' }],
        reason: 'used at 3',
      },
    })
  })

  it('may be KEEP without any proof', () => {
    expect(read({ boundary: null, evidence: [{ interaction: 99, quote: 'x' }], rechecks: [] })).toMatchObject({
      ok: true,
      verdict: { boundary: null, evidence: [] },
    })
  })

  it.each([
    [
      'a point that was not proposed',
      { boundary: 3, rechecks: [{ checkpoint: 3, supported: true }] },
      'boundary-not-proposed',
    ],
    [
      'a point before the target could be one',
      { boundary: 1, rechecks: [{ checkpoint: 1, supported: true }] },
      'boundary-not-proposed',
    ],
    [
      'a point without a valid record',
      { boundary: 8, rechecks: [{ checkpoint: 8, supported: true }] },
      'boundary-not-proposed',
    ],
    ['no re-check', { rechecks: [] }, 'boundary-not-rechecked'],
    ['a re-check that says no', { rechecks: [{ checkpoint: 4, supported: false }] }, 'boundary-not-rechecked'],
    ['no evidence', { evidence: [] }, 'no-evidence'],
    ['evidence at the boundary', { evidence: [{ interaction: 4, quote: 'step_number_4' }] }, 'misplaced-evidence'],
    ['evidence in the target', { evidence: [{ interaction: 0, quote: 'step_number_0' }] }, 'misplaced-evidence'],
    ['a false quote', { evidence: [{ interaction: 3, quote: 'step_number_5' }] }, 'false-quote'],
    ['a veto of its own behind it', { vetoes: [{ interaction: 5, quote: 'step_number_5' }] }, 'boundary-vetoed'],
    ['a veto with a false quote', { vetoes: [{ interaction: 2, quote: 'step_number_5' }] }, 'false-quote'],
    ['a later KEEP in silence', { overruled: [] }, 'not-monotonic'],
    ['a later KEEP without a reason', { overruled: [{ checkpoint: 6, reason: ' ' }] }, 'not-monotonic'],
    [
      'a later point found unsupported',
      {
        rechecks: [
          { checkpoint: 4, supported: true },
          { checkpoint: 7, supported: false },
        ],
      },
      'not-monotonic',
    ],
    ['no boundary at all', { boundary: undefined }, 'wrong-shape'],
    ['a boundary that is a word', { boundary: 'soon' }, 'wrong-shape'],
  ] as const)('with %s is refused', (_, change, code) => {
    expect(codes(change)[0]).toBe(code)
  })

  it('is held to the vetoes of stage 1 unless it dismisses them with a reason', () => {
    const vetoed: TargetRecords = RECORDS.map((one) =>
      one.checkpoint === 4 ? { checkpoint: 4, record: record('READY', 6) } : one,
    )
    expect(codes({}, vetoed)).toEqual(['boundary-vetoed'])
    expect(codes({ dismissed: [{ interaction: 6, reason: '' }] }, vetoed)).toEqual(['boundary-vetoed'])
    expect(codes({ dismissed: [{ interaction: 6, reason: 'only names it' }] }, vetoed)).toEqual([])
    const later = {
      boundary: 7,
      rechecks: [{ checkpoint: 7, supported: true }],
      evidence: [{ interaction: 6, quote: 'step_number_6' }],
    }
    expect(codes(later, vetoed)).toEqual([])
  })

  it('reads numbers in quotation marks and missing lists as they are meant', () => {
    expect(codes({ boundary: '4', vetoes: null, dismissed: undefined })).toEqual([])
  })
})
