import { describe, expect, it } from 'vitest'
import { EVIDENCE_NAMES, evidenceFeatures } from '../../../src/evidence/online-features.ts'
import { interactionText } from '../../../src/trajectory/interaction-text.ts'
import { runOf } from './run-of.ts'

const run = runOf({
  steps: [
    { index: 0, sees: 'lit_a lit_b lit_c lit_d' },
    { index: 3, reasoning: 'lit_a', sees: 'lit_b' },
    { index: 4, text: 'lit_a lit_b' },
    { index: 5, text: 'nothing', sees: 'lit_a' },
  ],
})

function row(checkpoint: number, at: number): Readonly<Record<string, number>> {
  const { values } = evidenceFeatures(run, checkpoint)
  const width = EVIDENCE_NAMES.length
  return Object.fromEntries(EVIDENCE_NAMES.map((name, column) => [name, values[at * width + column] ?? Number.NaN]))
}

describe('evidence features', () => {
  it('say by hand-counted numbers what was taken up of an interaction', () => {
    const first = run.interactions[0]
    const expected = {
      age: 6,
      log_age: Math.log(7),
      relative_position: 0,
      log_source_chars: Math.log(1 + (first === undefined ? 0 : interactionText(first).length)),
      log_introduced: Math.log(5),
      share_taken_up: 2 / 4,
      any_uptake: 1,
      log_uses: Math.log(1 + 3),
      log_users: Math.log(1 + 2),
      since_last_use: 2,
      log_since_last_use: Math.log(3),
      used_by_newest: 0,
      log_restated_by_newest: Math.log(2),
      log_restated: Math.log(1 + 5),
    }
    const got = row(6, 0)
    for (const name of EVIDENCE_NAMES) expect(got[name], name).toBeCloseTo(expected[name], 6)
  })

  it('see the newest interaction use a literal', () => {
    expect(row(5, 0)).toMatchObject({ used_by_newest: 1, since_last_use: 1 })
  })

  it('count steps since the last use from the interaction itself where there is none', () => {
    expect(row(5, 1)).toMatchObject({ any_uptake: 0, since_last_use: 2, age: 2, log_introduced: 0, share_taken_up: 0 })
    expect(row(5, 1).relative_position).toBeCloseTo(3 / 5, 6)
  })

  it('have no row where there is no target', () => {
    expect(evidenceFeatures(run, 0).interactions).toEqual([])
    expect(evidenceFeatures(run, 1).interactions).toEqual([])
    expect(evidenceFeatures(run, 4).interactions).toEqual([0])
  })
})
