import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import { findNearDuplicates, MIN_SHINGLES, NEAR_COPY_SHARE } from '../../../data/near-duplicates.ts'
import { SHINGLE_WORDS, shinglesOf } from '../../../data/shingles.ts'
import { createRng, shuffled } from '../../../src/rng.ts'
import { interactionText } from '../../../src/trajectory/interaction-text.ts'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { runOf } from '../../unit/evidence/run-of.ts'

/** A run is cut together from stretches of a few source texts, as copies of sessions are. */
const stretch = fc.record({ source: fc.nat(3), start: fc.nat(300), length: fc.integer({ min: 0, max: 400 }) })
const arbitraryRuns = fc
  .array(fc.record({ group: fc.nat(8), stretches: fc.array(stretch, { minLength: 1, maxLength: 3 }) }), {
    minLength: 2,
    maxLength: 12,
  })
  .map((runs) =>
    runs.map(({ group, stretches }, i): Trajectory => {
      const words = stretches.flatMap(({ source, start, length }) =>
        Array.from({ length }, (_, at) => `s${source}w${start + at}`),
      )
      const half = words.length >> 1
      const steps = [{ text: words.slice(0, half).join(' ') }, { sees: words.slice(half).join('\n') }]
      return { ...runOf({ steps, task: 'the same task for all' }), id: `run-${i}`, group: `group-${group}` }
    }),
  )

/** Shingles as texts, straight from the definition. */
function shingleTexts(run: Trajectory): ReadonlySet<string> {
  const words = run.interactions.map(interactionText).join('\n').toLowerCase().match(/\w+/g) ?? []
  return new Set(words.slice(SHINGLE_WORDS - 1).map((_, at) => words.slice(at, at + SHINGLE_WORDS).join(' ')))
}

/** Joins every pair of groups with a pair of near copies, until nothing changes: cubic, no hash, no sketch. */
function bruteForce(runs: readonly Trajectory[]): ReadonlyMap<string, string> {
  const sets = runs.map(shingleTexts)
  const groupOf = new Map(runs.map((run) => [run.group, run.group]))
  for (const [a, run] of runs.entries()) {
    for (const [b, other] of runs.entries()) {
      const small = sets[a] ?? new Set()
      const large = sets[b] ?? new Set()
      if (small.size < MIN_SHINGLES || small.size > large.size) continue
      const shared = [...small].filter((shingle) => large.has(shingle)).length
      if (shared / small.size <= NEAR_COPY_SHARE) continue
      const joined = [groupOf.get(run.group) ?? '', groupOf.get(other.group) ?? ''].sort()
      for (const [group, name] of groupOf) if (joined.includes(name)) groupOf.set(group, joined[0] ?? '')
    }
  }
  return groupOf
}

describe('near duplicates', () => {
  test.prop([arbitraryRuns], { numRuns: 150 })('are those of the definition, compared pair by pair', (runs) => {
    expect(new Map(findNearDuplicates(runs).groupOf)).toEqual(bruteForce(runs))
  })

  test.prop([arbitraryRuns, fc.integer()], { numRuns: 50 })('do not depend on the order of the runs', (runs, seed) => {
    expect(findNearDuplicates(shuffled(runs, createRng(seed)))).toEqual(findNearDuplicates(runs))
  })

  test.prop([arbitraryRuns], { numRuns: 100 })('name the pairs that join the members of a merge', (runs) => {
    const groupOfRun = new Map(runs.map((run) => [run.id, run.group]))
    const setOf = new Map(runs.map((run) => [run.id, shinglesOf(run)]))
    for (const { group, members, because } of findNearDuplicates(runs).merges) {
      expect(group).toBe([...members].sort()[0])
      expect(because.length).toBe(members.length - 1)
      const reached = new Set([group])
      for (let round = 0; round < members.length; round++)
        for (const { a, b } of because) {
          const ends = [groupOfRun.get(a) ?? '', groupOfRun.get(b) ?? '']
          if (ends.some((end) => reached.has(end))) for (const end of ends) reached.add(end)
        }
      expect([...reached].sort()).toEqual([...members].sort())
      for (const { a, b, shared, share } of because) {
        expect(share).toBeGreaterThan(NEAR_COPY_SHARE)
        expect(share * Math.min(setOf.get(a)?.length ?? 0, setOf.get(b)?.length ?? 0)).toBeCloseTo(shared, 6)
      }
    }
  })

  test.prop([arbitraryRuns])('hash as many shingles as there are different texts', (runs) => {
    for (const run of runs) expect(shinglesOf(run).length).toBe(shingleTexts(run).size)
  })
})
