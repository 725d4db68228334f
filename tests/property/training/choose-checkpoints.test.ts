import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import type { Trajectory } from '../../../src/trajectory/trajectory.ts'
import { chooseCheckpoints } from '../../../training/choose-checkpoints.ts'

function runOf(length: number, id = 'run'): Trajectory {
  const source = { file: 'x.json' }
  return {
    schemaVersion: 1,
    id,
    group: 'g',
    domain: 'd',
    format: 'f',
    system: '',
    task: '',
    interactions: Array.from({ length }, (_, index) => ({
      index,
      actor: null,
      reasoning: '',
      text: '',
      toolCalls: [],
      observations: [],
      source,
    })),
    turns: [],
    truncated: false,
    parent: null,
    source,
  }
}

const length = fc.integer({ min: 0, max: 400 })
const max = fc.integer({ min: 1, max: 80 })

describe('chooseCheckpoints', () => {
  test.prop([length, max, fc.integer()])('gives as many different checkpoints in 2..N-1 as it may', (n, cap, seed) => {
    const chosen = chooseCheckpoints(runOf(n), { max: cap, seed })
    expect(chosen).toHaveLength(Math.min(cap, Math.max(0, n - 2)))
    expect([...new Set(chosen)].sort((a, b) => a - b)).toEqual(chosen)
    expect(chosen.every((c) => c >= 2 && c <= n - 1)).toBe(true)
  })

  test.prop([fc.integer({ min: 100, max: 400 }), fc.integer({ min: 2, max: 40 }), fc.integer()])(
    'spreads them evenly: no gap is twice as long as the even one',
    (n, cap, seed) => {
      const chosen = [2, ...chooseCheckpoints(runOf(n), { max: cap, seed }), n - 1]
      const widest = Math.max(...chosen.slice(1).map((c, k) => c - (chosen[k] ?? 0)))
      expect(widest).toBeLessThanOrEqual(2 * Math.ceil((n - 2) / cap))
    },
  )

  it('draws by seed and run, and takes all where the cap allows', () => {
    const draw = (seed: number, id: string): readonly number[] => chooseCheckpoints(runOf(300, id), { max: 20, seed })
    expect(draw(1, 'a')).toEqual(draw(1, 'a'))
    expect(draw(1, 'a')).not.toEqual(draw(2, 'a'))
    expect(draw(1, 'a')).not.toEqual(draw(1, 'b'))
    expect(chooseCheckpoints(runOf(6), { max: 64, seed: 1 })).toEqual([2, 3, 4, 5])
  })
})
