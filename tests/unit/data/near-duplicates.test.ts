import { describe, expect, it } from 'vitest'
import { findNearDuplicates, MIN_SHINGLES } from '../../../data/near-duplicates.ts'
import { SHINGLE_WORDS } from '../../../data/shingles.ts'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { runOf } from '../evidence/run-of.ts'

function words(prefix: string, count: number): string {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`).join(' ')
}

function run(id: string, text: string, group = id): Trajectory {
  return { ...runOf({ steps: [{ text }] }), id, group }
}

describe('near duplicates', () => {
  it('join the group of a short run that stands inside a long one', () => {
    const long = run('long', `${words('a', 100)} ${words('b', 2000)}`)
    const { merges, groupOf } = findNearDuplicates([long, run('short', words('a', 100)), run('other', words('c', 100))])
    expect(merges).toEqual([
      { group: 'long', members: ['long', 'short'], because: [{ a: 'long', b: 'short', shared: 93, share: 1 }] },
    ])
    expect([...groupOf]).toEqual([
      ['long', 'long'],
      ['other', 'other'],
      ['short', 'long'],
    ])
  })

  it('do not join runs that share just half', () => {
    const half = words('a', SHINGLE_WORDS - 1 + 30)
    const pair = (extra: number): number =>
      findNearDuplicates([
        run('x', `${half} ${words('b', 30)}`),
        run('y', `${half} ${words('c', 30 - extra)} ${words('d', extra)}`),
      ]).merges.length
    expect(pair(0)).toBe(0)
    expect(
      findNearDuplicates([run('x', `${half} ${words('b', 30)}`), run('y', `${half} ${words('c', 29)}`)]).merges.length,
    ).toBe(1)
  })

  it('join chains: a with b and b with c makes one group of the three', () => {
    const { merges } = findNearDuplicates([
      run('a', words('x', 100)),
      run('b', `${words('x', 100)} ${words('y', 100)}`),
      run('c', words('y', 100)),
    ])
    expect(merges.map(({ group, members }) => [group, members])).toEqual([['a', ['a', 'b', 'c']]])
  })

  it('leave runs of one group alone, and tiny runs', () => {
    const text = words('x', 100)
    expect(findNearDuplicates([run('1', text, 'g'), run('2', text, 'g')]).merges).toEqual([])
    const tiny = words('x', SHINGLE_WORDS + MIN_SHINGLES - 2)
    expect(findNearDuplicates([run('1', tiny), run('2', tiny)]).merges).toEqual([])
    expect(findNearDuplicates([run('1', `${tiny} end`), run('2', `${tiny} end`)]).merges.length).toBe(1)
  })

  it('do not look at the task', () => {
    const of = (id: string): Trajectory => ({
      ...runOf({ task: words('t', 300), steps: [{ text: words(id, 50) }] }),
      id,
      group: id,
    })
    expect(findNearDuplicates([of('p'), of('q')]).merges).toEqual([])
  })

  it('compare no pair of a thousand unrelated runs, and no pair of a thousand copies', () => {
    const unrelated = Array.from({ length: 1000 }, (_, i) => run(`r${i}`, words(`r${i}x`, 60)))
    expect(findNearDuplicates(unrelated)).toMatchObject({ comparisons: 0, merges: [] })
    const copies = Array.from({ length: 1000 }, (_, i) => run(`r${i}`, words('x', 60)))
    const found = findNearDuplicates(copies)
    expect(found.comparisons).toBe(0)
    expect(found.merges.map((merge) => merge.members.length)).toEqual([1000])
  })

  it('take runs without words, or no run at all', () => {
    expect(findNearDuplicates([])).toEqual({ groupOf: new Map(), merges: [], comparisons: 0 })
    expect(findNearDuplicates([run('1', ''), run('2', '')]).merges).toEqual([])
  })
})
