import { describe, expect, it } from 'vitest'
import { createPrefixCache, type PrefixCache } from '../../../../models/frozen-lm/prefix-cache.ts'
import { runViewTree } from '../../../../models/frozen-lm/run-view-tree.ts'
import { createVectorCache } from '../../../../models/frozen-lm/vector-cache.ts'
import { AppError } from '../../../../src/errors.ts'
import type { ViewNode } from '../../../../src/view/build-view-tree.ts'
import { createFakeFrozenLm, type FakeFrozenLm } from '../../../fakes/fake-frozen-lm.ts'

function node(tokens: readonly number[], emitAs: number | null, children: readonly ViewNode[] = []): ViewNode {
  const emit = emitAs === null ? null : { role: 'h' as const, interaction: emitAs, checkpoint: null }
  return { tokens: Int32Array.from(tokens), truncatedTokens: 0, emit, children }
}

/** [head][1][2] ... [count][readout]: the runs of a history that only grows. */
function chain(count: number): ViewNode {
  let last = node([900], count)
  for (let k = count; k > 0; k--) last = node([k, k, k], null, [last])
  return node([500, 501], null, [last])
}

const ROOM = 1 << 20

function roomy(lm: FakeFrozenLm): PrefixCache {
  return createPrefixCache(lm, ROOM)
}

describe('view trees behind a prefix cache', () => {
  it('compute only what a longer history adds', async () => {
    const lm = createFakeFrozenLm()
    const prefixes = roomy(lm)
    const first = await runViewTree(lm, chain(3), { prefixes })
    expect(first).toMatchObject({ computedTokens: 12, savedTokens: 0, hits: 0, misses: 4 })
    const second = await runViewTree(lm, chain(4), { prefixes })
    expect(second).toMatchObject({ computedTokens: 4, savedTokens: 11, hits: 1, misses: 1 })
    expect(lm.runs.slice(-2)).toEqual([[4, 4, 4], [900]])
    expect(second.vectors).toEqual((await runViewTree(createFakeFrozenLm(), chain(4))).vectors)
  })

  it('start from the deepest state that is left when earlier ones made room', async () => {
    const lm = createFakeFrozenLm()
    const prefixes = createPrefixCache(lm, 700)
    await runViewTree(lm, chain(6), { prefixes })
    expect(prefixes.entries).toBeLessThan(7)
    expect(prefixes.evictions).toBeGreaterThan(0)
    const again = await runViewTree(lm, chain(7), { prefixes })
    expect(again).toMatchObject({ computedTokens: 4, savedTokens: 20 })
  })

  it('read a vector beside its state where a state is stored', async () => {
    const lm = createFakeFrozenLm()
    const prefixes = roomy(lm)
    const tree = node([1, 2], 0, [node([3], 1)])
    const first = await runViewTree(lm, tree, { prefixes })
    const second = await runViewTree(lm, tree, { prefixes })
    expect(second.vectors).toEqual(first.vectors)
    expect(second).toMatchObject({ computedTokens: 1, savedTokens: 2, hits: 1, misses: 0 })
  })

  it('do not look for states behind which every vector is known', async () => {
    const lm = createFakeFrozenLm()
    const prefixes = roomy(lm)
    const cache = createVectorCache(ROOM)
    await runViewTree(lm, chain(3), { prefixes, cache })
    const again = await runViewTree(lm, chain(3), { prefixes, cache })
    expect(again).toMatchObject({ computedTokens: 0, savedTokens: 0, hits: 0, misses: 0 })
  })

  it('find a prefix only where it was cut into the same runs', async () => {
    const lm = createFakeFrozenLm()
    const prefixes = roomy(lm)
    await runViewTree(lm, node([1, 2], null, [node([3], null, [node([4], 0)])]), { prefixes })
    const other = await runViewTree(lm, node([1], null, [node([2, 3], null, [node([4], 0)])]), { prefixes })
    expect(other).toMatchObject({ hits: 0, computedTokens: 4 })
  })

  it('let go of each state when the last run behind it has ended, where nothing is stored', async () => {
    const lm = createFakeFrozenLm()
    await runViewTree(lm, chain(50))
    expect(lm.peakStates).toBe(2)
    expect(lm.liveStates).toBe(0)
  })

  it('run histories of thousands of interactions, known or new', async () => {
    const lm = createFakeFrozenLm({ contextLength: 1 << 20 })
    let tree = node([1], 3000)
    for (let k = 3000; k > 0; k--) tree = node([k], k, [tree])
    const cache = createVectorCache(1 << 24)
    const first = await runViewTree(lm, tree, { cache })
    expect(first.vectors.length).toBe(3001)
    expect(lm.peakStates).toBe(2)
    const again = await runViewTree(lm, tree, { cache })
    expect(again).toMatchObject({ computedTokens: 0, vectors: first.vectors })
    // Nothing but the end is new, and no state is stored: everything runs again, from the root down.
    const grown = await runViewTree(lm, node([1], 1, [...tree.children, node([7], 9)]), { cache })
    expect(grown.computedTokens).toBe(2)
  }, 30_000)

  for (const [size, bytes] of Object.entries({ none: 0, tiny: 400, ample: ROOM })) {
    it(`leave no state behind after an abort or a failure at any run, room ${size}`, async () => {
      for (let at = 0; at < 6; at++) {
        for (const how of ['abort', 'failure'] as const) {
          const controller = new AbortController()
          const lm = createFakeFrozenLm({
            onRun: (run) => {
              if (run !== at) return
              if (how === 'abort') controller.abort()
              else throw new AppError('session-failed', 'no')
            },
          })
          const prefixes = createPrefixCache(lm, bytes)
          const run = runViewTree(lm, chain(5), { prefixes, signal: controller.signal })
          await expect(run).rejects.toMatchObject({ code: how === 'abort' ? 'interrupted' : 'session-failed' })
          expect(lm.liveStates).toBe(prefixes.entries)
          prefixes.clear()
          expect(lm.liveStates).toBe(0)
        }
      }
    })
  }

  it('refuse to release a state twice', () => {
    const lm = createFakeFrozenLm()
    const lease = roomy(lm).store('key', { state: { tokenCount: 1, sizeBytes: 8 }, hidden: new Float32Array(1) })
    lease.release()
    expect(() => lease.release()).toThrow(AppError)
  })
})
