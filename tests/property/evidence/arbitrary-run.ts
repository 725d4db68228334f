/**
 * Random runs over a small alphabet of literals, with gaps in the canonical indices and turns between interactions.
 */
import { fc } from '@fast-check/vitest'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { runOf } from '../../unit/evidence/run-of.ts'

const words = fc.constantFrom('lit_a', 'lit_b', 'lit_c', 'lit_d', 'lit_e', 'lit_f', 'src/g.ts', '1234', 'plain')
const text = fc.array(words, { maxLength: 3 }).map((list) => list.join(' '))

const step = fc.record({
  gap: fc.integer({ min: 0, max: 2 }),
  reasoning: text,
  text,
  call: fc.oneof(
    text,
    text.map((value) => JSON.stringify({ first_arg: value })),
  ),
  sees: text,
})

export function arbitraryRun(options: { readonly gaps: boolean }): fc.Arbitrary<Trajectory> {
  return fc
    .record({
      task: text,
      steps: fc.array(step, { minLength: 1, maxLength: 9 }),
      turns: fc.array(fc.record({ at: fc.nat(9), text }), { maxLength: 2 }),
    })
    .map(({ task, steps, turns }) => {
      let index = -1
      const placed = steps.map(({ gap, ...rest }) => {
        index += 1 + (options.gaps ? gap : 0)
        return { ...rest, index }
      })
      const places = [...placed.map((item) => item.index), index + 1]
      const sorted = turns
        .map((turn) => ({ before: places[turn.at % places.length] ?? 0, text: turn.text }))
        .sort((a, b) => a.before - b.before)
      return runOf({ task, steps: placed, turns: sorted })
    })
}
