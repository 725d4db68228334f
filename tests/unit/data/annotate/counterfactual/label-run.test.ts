import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { rowProblems } from '../../../../../data/annotate/check-evidence.ts'
import type { Gain } from '../../../../../data/annotate/counterfactual/gains.ts'
import { labelRun } from '../../../../../data/annotate/counterfactual/label-run.ts'
import { labelAt } from '../../../../../data/annotate/label-record.ts'
import { parseLabelRow } from '../../../../../data/store/label.schema.ts'
import { shellInteraction, trajectoryOf } from '../../../../fakes/trajectories.ts'

const LENGTH = 9
const run = trajectoryOf({
  interactions: Array.from({ length: LENGTH }, (_, k) => shellInteraction(k, `make step-${k}`, `done ${k}`)),
})

const gainOf = (interaction: number, action: number, nats: number): Gain => ({
  trajectory: run.id,
  interaction,
  action,
  nats,
  unitNats: 2,
})
const labelOf = (gains: readonly Gain[], limit = 1.5) =>
  labelRun(run, { annotator: 'counterfactual:made', gains, limit }).labels

describe('the counterfactual rule', () => {
  it('makes an interaction READY right after the last action it mattered for, with gains as evidence', () => {
    const [label] = labelOf([gainOf(0, 7, 2.9), gainOf(0, 5, 8.123456), gainOf(0, 2, 3.1), gainOf(0, 3, -20)])
    expect(label).toEqual({
      interaction: 0,
      boundary: 6,
      evidence: [
        { kind: 'uptake', interaction: 2, quote: 'bash({"command":"make step-2"})', gain: 3.1, threshold: 3 },
        { kind: 'uptake', interaction: 5, quote: 'bash({"command":"make step-5"})', gain: 8.1235, threshold: 3 },
        { kind: 'veto', interaction: 5, quote: 'bash({"command":"make step-5"})', gain: 8.1235, threshold: 3 },
      ],
      reason: 'mattered for 2 of 4 actions, last for 5',
    })
  })

  it('keeps what never mattered, and says whether it was measured', () => {
    const labels = labelOf([gainOf(0, 3, 3)])
    expect(labels[0]).toMatchObject({ boundary: null, reason: 'mattered for none of 1 actions' })
    expect(labels[1]).toMatchObject({ boundary: null, evidence: [], reason: 'no later action was measured' })
  })

  it('shows the first and the last of many uses', () => {
    const [label] = labelOf(Array.from({ length: 8 }, (_, k) => gainOf(0, k + 1, 9)))
    expect(label?.evidence.map(({ kind, interaction }) => `${kind} ${interaction}`)).toEqual([
      'uptake 1',
      'uptake 2',
      'uptake 3',
      'uptake 8',
      'veto 8',
    ])
  })

  const drawnGains = fc.array(
    fc
      .tuple(
        fc.integer({ min: 0, max: LENGTH - 2 }),
        fc.integer({ min: 1, max: LENGTH - 1 }),
        fc.integer({ min: -9, max: 9 }),
      )
      .filter(([interaction, action]) => interaction < action)
      .map(([interaction, action, nats]) => gainOf(interaction, action, nats)),
    { maxLength: 30 },
  )
  const unique = (gains: readonly Gain[]): Gain[] => [
    ...new Map(gains.map((gain) => [`${gain.interaction} ${gain.action}`, gain])).values(),
  ]

  test.prop([drawnGains])('READY at c says: it mattered before c and not from c on; it never goes back', (drawn) => {
    const gains = unique(drawn)
    const row = labelRun(run, { annotator: 'counterfactual:made', gains, limit: 1.5 })
    expect(rowProblems(run, row)).toEqual([])
    expect(parseLabelRow(JSON.parse(JSON.stringify(row)))).toMatchObject({ ok: true })
    for (const label of row.labels) {
      const uses = gains.filter((gain) => gain.interaction === label.interaction && gain.nats > 3)
      for (let c = label.interaction + 2; c <= LENGTH; c++) {
        const ready = uses.some(({ action }) => action < c) && uses.every(({ action }) => action < c)
        expect(labelAt(label, c)).toBe(ready ? 1 : 0)
      }
    }
  })

  test.prop([drawnGains, fc.double({ min: 0, max: 5, noNaN: true })])(
    'a stricter limit never adds an interaction that mattered, and never moves a boundary back',
    (drawn, limit) => {
      const loose = labelOf(unique(drawn), limit)
      for (const [k, strict] of labelOf(unique(drawn), limit + 0.5).entries()) {
        const boundary = loose[k]?.boundary ?? null
        if (boundary === null) expect(strict.boundary).toBeNull()
        else expect(strict.boundary ?? 0).toBeLessThanOrEqual(boundary)
      }
    },
  )
})
