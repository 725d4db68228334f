import { describe, expect, it } from 'vitest'
import { runViewTree } from '../../../../models/frozen-lm/run-view-tree.ts'
import { AppError } from '../../../../src/errors.ts'
import type { ViewNode } from '../../../../src/view/build-view-tree.ts'
import { createFakeFrozenLm } from '../../../fakes/fake-frozen-lm.ts'

function node(tokens: readonly number[], emitAs: string | null, children: readonly ViewNode[] = []): ViewNode {
  const emit =
    emitAs === null
      ? null
      : {
          role: emitAs.startsWith('q') ? ('q' as const) : ('h' as const),
          interaction: Number(emitAs.slice(1)),
          checkpoint: null,
        }
  return { tokens: Int32Array.from(tokens), truncatedTokens: tokens.length, emit, children }
}

const THREE_LEVELS = node([1, 2], null, [
  node([3], 'q1', [node([4, 5], 'h1'), node([6], 'h2')]),
  node([7], 'q2', [node([8], 'h3')]),
])

describe('running a view tree', () => {
  it('computes each node once, in pre-order, and reads the state of the whole path', async () => {
    const lm = createFakeFrozenLm()
    const run = await runViewTree(lm, THREE_LEVELS)
    expect(lm.runs).toEqual([[1, 2], [3], [4, 5], [6], [7], [8]])
    expect(run.computedTokens).toBe(8)
    const views = run.vectors.map(({ emit, hidden, viewTokens }) => [
      emit.role,
      emit.interaction,
      viewTokens,
      hidden[1],
    ])
    expect(views).toEqual([
      ['q', 1, 3, 6],
      ['h', 1, 5, 15],
      ['h', 2, 4, 12],
      ['q', 2, 3, 10],
      ['h', 3, 4, 18],
    ])
  })

  it('adds up the tokens that truncation left out on the path', async () => {
    const { vectors } = await runViewTree(createFakeFrozenLm(), THREE_LEVELS)
    expect(vectors.map((vector) => vector.truncatedTokens)).toEqual([3, 5, 4, 3, 4])
  })

  it('keeps one state per level and disposes all of them', async () => {
    const lm = createFakeFrozenLm()
    await runViewTree(lm, THREE_LEVELS)
    expect(lm.peakStates).toBe(2)
    expect(lm.liveStates).toBe(0)
  })

  it('passes the parent state through a node without tokens', async () => {
    const lm = createFakeFrozenLm()
    const { vectors } = await runViewTree(lm, node([], null, [node([9], 'h0'), node([2], 'h1')]))
    expect(vectors.map((vector) => Array.from(vector.hidden.subarray(0, 2)))).toEqual([
      [1, 9],
      [1, 2],
    ])
  })

  it('stops between runs when aborted, with the reason, and disposes what it held', async () => {
    const controller = new AbortController()
    const reason = new AppError('deadline-exceeded', 'too slow')
    const lm = createFakeFrozenLm({
      onRun: (run) => {
        if (run === 2) controller.abort(reason)
      },
    })
    await expect(runViewTree(lm, THREE_LEVELS, { signal: controller.signal })).rejects.toBe(reason)
    expect(lm.runs.length).toBe(3)
    expect(lm.liveStates).toBe(0)
  })

  it('reports an abort without a reason of ours as interrupted', async () => {
    const run = runViewTree(createFakeFrozenLm(), THREE_LEVELS, { signal: AbortSignal.abort() })
    await expect(run).rejects.toMatchObject({ code: 'interrupted' })
  })

  it('disposes every state when a run fails', async () => {
    const lm = createFakeFrozenLm({
      onRun: (run) => {
        if (run === 3) throw new AppError('session-failed', 'no')
      },
    })
    await expect(runViewTree(lm, THREE_LEVELS)).rejects.toMatchObject({ code: 'session-failed' })
    expect(lm.liveStates).toBe(0)
  })
})
