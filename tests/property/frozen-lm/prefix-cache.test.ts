import { fc, test } from '@fast-check/vitest'
import { describe, expect } from 'vitest'
import type { StateHandle } from '../../../models/frozen-lm/port.ts'
import { createPrefixCache, type StateLease } from '../../../models/frozen-lm/prefix-cache.ts'
import { viewKey } from '../../../models/frozen-lm/vector-cache.ts'

/** Runs of tokens from the root: few and short, so that sequences meet each other's prefixes. */
const run: fc.Arbitrary<readonly number[]> = fc.constantFrom([1], [2], [1, 2], [2, 1, 1])
const path = fc.array(run, { minLength: 1, maxLength: 4 })

type Step =
  | { readonly kind: 'store'; readonly path: readonly (readonly number[])[]; readonly sizeBytes: number }
  | { readonly kind: 'lease'; readonly path: readonly (readonly number[])[] }
  | { readonly kind: 'release'; readonly lease: number }
  | { readonly kind: 'clear' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('store' as const), path, sizeBytes: fc.nat(3000) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('lease' as const), path }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('release' as const), lease: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
)

function keyOf(runs: readonly (readonly number[])[]): string {
  return runs.reduce((key, tokens) => viewKey(key, Int32Array.from(tokens)), '')
}

/** What the cache is said to be, without a thought for speed: a list, the longest unused first. */
interface Known {
  readonly name: string
  readonly state: StateHandle
  readonly costBytes: number
}

const VECTOR = new Float32Array(2)
const COST_BESIDE_STATE = VECTOR.byteLength + 300

describe('the prefix cache', () => {
  test.prop([fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 9000 })])(
    'holds what a plain list would hold, never passes its bound and disposes every state once, when nobody uses it',
    (steps, maxBytes) => {
      const disposed = new Set<StateHandle>()
      const cache = createPrefixCache(
        {
          dispose(state) {
            expect(disposed.has(state)).toBe(false)
            disposed.add(state)
          },
        },
        maxBytes,
      )
      const made: StateHandle[] = []
      const leases: StateLease[] = []
      let list: Known[] = []
      const usersOf = (state: StateHandle): number => leases.filter((lease) => lease.state === state).length
      const listBytes = (): number => list.reduce((sum, known) => sum + known.costBytes, 0)

      const store = (name: string, state: StateHandle): void => {
        const costBytes = state.sizeBytes + COST_BESIDE_STATE
        const used = list.filter((known) => usersOf(known.state) > 0)
        const usedBytes = used.reduce((sum, known) => sum + known.costBytes, 0)
        if (list.some((known) => known.name === name) || usedBytes + costBytes > maxBytes) return
        while (listBytes() + costBytes > maxBytes) {
          const oldest = list.find((known) => usersOf(known.state) === 0)
          list = list.filter((known) => known !== oldest)
        }
        list.push({ name, state, costBytes })
      }

      for (const action of steps) {
        if (action.kind === 'store') {
          const state = { tokenCount: action.path.flat().length, sizeBytes: action.sizeBytes }
          made.push(state)
          store(JSON.stringify(action.path), state)
          leases.push(cache.store(keyOf(action.path), { state, hidden: VECTOR }))
        } else if (action.kind === 'lease') {
          const name = JSON.stringify(action.path)
          const known = list.find((item) => item.name === name)
          const lease = cache.lease(keyOf(action.path))
          expect(lease?.state).toBe(known?.state)
          if (known !== undefined) list = [...list.filter((item) => item !== known), known]
          if (lease !== null) leases.push(lease)
        } else if (action.kind === 'release') {
          const [lease] = leases.splice(action.lease % Math.max(1, leases.length), 1)
          lease?.release()
        } else {
          cache.clear()
          list = []
        }
        expect(cache.sizeBytes).toBe(listBytes())
        expect(cache.sizeBytes).toBeLessThanOrEqual(maxBytes)
        expect(cache.entries).toBe(list.length)
        const alive = made.filter((state) => usersOf(state) > 0 || list.some((known) => known.state === state))
        expect(made.filter((state) => !disposed.has(state))).toEqual(alive)
      }
      cache.clear()
      for (const lease of leases.splice(0)) lease.release()
      expect(disposed.size).toBe(made.length)
    },
  )
})
