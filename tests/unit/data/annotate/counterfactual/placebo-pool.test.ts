import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import {
  createPlaceboPool,
  LENGTH_CLASSES,
  lengthClass,
  type PoolEntry,
} from '../../../../../data/annotate/counterfactual/placebo-pool.ts'
import { interactionOf, trajectoryOf } from '../../../../fakes/trajectories.ts'

const OPTIONS = { targetTokens: 64, seed: 1, groupOf: new Map<string, string>() }

/** Runs of the given groups and domains; interaction k of each has so many tokens. */
function entriesOf(
  runs: readonly { readonly group: string; readonly domain?: string; readonly lengths: readonly number[] }[],
): readonly PoolEntry[] {
  return runs.flatMap(({ group, domain = 'made', lengths }, at) => {
    const run = trajectoryOf({ id: `run-${at}`, group, domain, interactions: lengths.map((_, k) => interactionOf(k)) })
    return run.interactions.map((interaction, k) => ({ run, interaction, tokens: new Int32Array(lengths[k] ?? 0) }))
  })
}

const runOf = (entries: readonly PoolEntry[], at: number) => entries[at]?.run ?? trajectoryOf({})

describe('a placebo', () => {
  test.prop([
    fc.array(
      fc.record({
        group: fc.constantFrom('a', 'b', 'c'),
        domain: fc.constantFrom('x', 'y'),
        lengths: fc.array(fc.integer({ min: 0, max: 64 }), { minLength: 2, maxLength: 6 }),
      }),
      { minLength: 2, maxLength: 8 },
    ),
    fc.integer({ min: 0, max: LENGTH_CLASSES - 1 }),
    fc.integer({ min: 1, max: 9 }),
  ])(
    'never comes from the same group, stands once in a draw, and is as often there as others allow',
    (runs, length, count) => {
      const entries = entriesOf(runs)
      fc.pre(new Set(runs.map(({ group }) => group)).size > 1)
      const pool = createPlaceboPool(entries, OPTIONS)
      for (const run of new Set(entries.map((entry) => entry.run))) {
        const drawn = pool.draw(run, { lengthClass: length, count, purpose: [run.id] })
        const others = entries.filter((entry) => entry.run.group !== run.group)
        expect(drawn.every((entry) => entry.run.group !== run.group)).toBe(true)
        expect(new Set(drawn).size).toBe(drawn.length)
        expect(drawn).toHaveLength(Math.min(count, others.length))
        expect(pool.draw(run, { lengthClass: length, count, purpose: [run.id] })).toEqual(drawn)
      }
    },
  )

  it('is of like length and of the same domain while there are enough of them', () => {
    const entries = entriesOf([
      { group: 'own', lengths: [64, 64] },
      { group: 'near', lengths: [60, 60, 60, 8, 8] },
      { group: 'far', domain: 'other', lengths: [64, 64, 64, 64, 4] },
    ])
    const draw = (count: number) =>
      createPlaceboPool(entries, OPTIONS)
        .draw(runOf(entries, 0), { lengthClass: 0, count, purpose: [1] })
        .map((entry) => [entry.run.group, entry.tokens.length] as const)
    expect(draw(3)).toEqual(Array.from({ length: 3 }, () => ['near', 60]))
    expect(new Set(draw(7).map(([group]) => group))).toEqual(new Set(['near', 'far']))
    expect(draw(7).every(([, length]) => length > 32)).toBe(true)
    expect(draw(10)).toHaveLength(10)
  })

  it('is drawn anew for another purpose and another seed', () => {
    const entries = entriesOf([
      { group: 'own', lengths: [64, 64] },
      { group: 'other', lengths: Array.from({ length: 40 }, () => 64) },
    ])
    const draw = (seed: number, purpose: number) =>
      createPlaceboPool(entries, { ...OPTIONS, seed })
        .draw(runOf(entries, 0), { lengthClass: 0, count: 5, purpose: [purpose] })
        .map((entry) => entry.interaction.index)
    expect(draw(1, 1)).not.toEqual(draw(1, 2))
    expect(draw(1, 1)).not.toEqual(draw(2, 1))
  })

  it('never comes from a near copy, which is of the same group under another name', () => {
    const entries = entriesOf(['own', 'copy', 'other'].map((group) => ({ group, lengths: [64, 64, 64] })))
    const pool = createPlaceboPool(entries, { ...OPTIONS, groupOf: new Map([['copy', 'own']]) })
    for (const [at, expected] of [
      [0, 'other'],
      [3, 'other'],
    ] as const) {
      const drawn = pool.draw(runOf(entries, at), { lengthClass: 0, count: 9, purpose: [at] })
      expect(drawn.map((entry) => entry.run.group)).toEqual([expected, expected, expected])
    }
    expect(() => createPlaceboPool(entries.slice(0, 6), { ...OPTIONS, groupOf: new Map([['copy', 'own']]) })).toThrow(
      'near copies',
    )
  })

  it('has nowhere to come from where all runs share a group: a named error that says what to do', () => {
    const entries = entriesOf([
      { group: 'only', lengths: [10, 20] },
      { group: 'only', lengths: [10, 20] },
    ])
    expect(() => createPlaceboPool(entries, OPTIONS)).toThrow(
      expect.objectContaining({ code: 'training-data-insufficient', message: expect.stringContaining('other groups') }),
    )
    expect(() => createPlaceboPool([...entries, ...entriesOf([{ group: 'b', lengths: [1] }])], OPTIONS)).toThrow(
      '"only"',
    )
  })
})

it('length classes differ by factors of two', () => {
  expect([64, 33, 32, 17, 16, 9, 8, 1, 0].map((tokens) => lengthClass(tokens, 64))).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 3])
})
