import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { assignParts, PARTS, ROTATIONS, rotationSplit } from '../../../data/rotations.ts'
import type { DatasetTrajectory } from '../../../data/store/dataset.ts'
import { AppError } from '../../../src/errors.ts'
import { createRng, shuffled } from '../../../src/rng.ts'

const trajectories = fc
  .array(
    fc.record({
      group: fc.integer({ min: 0, max: 40 }),
      domain: fc.constantFrom('tau-bench', 'swe-agent', 'claude-code'),
      length: fc.integer({ min: 1, max: 300 }),
    }),
    { minLength: 20, maxLength: 120 },
  )
  .map((rows): readonly DatasetTrajectory[] =>
    rows.map((row, i) => ({
      id: `run-${i}`,
      group: `${row.domain}/${row.group}`,
      domain: row.domain,
      length: row.length,
    })),
  )
  .filter((rows) => new Set(rows.map((row) => row.group)).size >= 6)

function countsOf(parts: ReadonlyMap<string, number>, keep: (group: string) => boolean): readonly number[] {
  return PARTS.map((part) => [...parts].filter(([group, own]) => own === part && keep(group)).length)
}

describe('assignParts', () => {
  test.prop([trajectories, fc.integer()])('gives every group exactly one part', (rows, seed) => {
    const parts = assignParts(rows, seed)
    expect(new Set(parts.keys())).toEqual(new Set(rows.map((row) => row.group)))
  })

  test.prop([trajectories, fc.integer()])(
    'keeps parts within one group of each other, overall and per domain',
    (rows, seed) => {
      const parts = assignParts(rows, seed)
      for (const prefix of ['', 'tau-bench/', 'swe-agent/', 'claude-code/']) {
        const counts = countsOf(parts, (group) => group.startsWith(prefix))
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
      }
    },
  )

  test.prop([trajectories, fc.integer(), fc.integer()])(
    'depends on the seed, not on the order of the rows',
    (rows, seed, order) => {
      expect(assignParts(shuffled(rows, createRng(order)), seed)).toEqual(assignParts(rows, seed))
    },
  )

  it('deals differently for another seed', () => {
    const rows = Array.from({ length: 60 }, (_, i) => ({ id: `${i}`, group: `g${i}`, domain: 'd', length: 10 }))
    expect(assignParts(rows, 1)).not.toEqual(assignParts(rows, 2))
  })

  it('spreads long groups: each part holds one of the six longest', () => {
    const rows = Array.from({ length: 30 }, (_, i) => ({ id: `${i}`, group: `g${i}`, domain: 'd', length: i + 1 }))
    const parts = assignParts(rows, 7)
    const longest = rows.slice(-6).map((row) => parts.get(row.group))
    expect(new Set(longest).size).toBe(6)
  })

  it('refuses fewer groups than parts, with the number of groups missing', () => {
    const rows = Array.from({ length: 20 }, (_, i) => ({ id: `${i}`, group: `g${i % 4}`, domain: 'd', length: 10 }))
    const attempt = (): unknown => assignParts(rows, 0)
    expect(attempt).toThrow(AppError)
    expect(attempt).toThrow(/^4 groups.*at least 2 more tasks/)
    expect(attempt).toThrow(expect.objectContaining({ code: 'training-data-insufficient' }))
  })
})

describe('rotationSplit', () => {
  test.prop([trajectories, fc.integer()])('partitions the groups in every rotation', (rows, seed) => {
    const parts = assignParts(rows, seed)
    for (const rotation of [...ROTATIONS, 'final'] as const) {
      const { train, validation, test: held } = rotationSplit(parts, rotation)
      expect([...train, ...validation, ...held].sort()).toEqual([...parts.keys()].sort())
      expect(train.size + validation.size + held.size).toBe(parts.size)
    }
  })

  test.prop([trajectories, fc.integer()])('tests each group of parts 0-4 once and none of part 5', (rows, seed) => {
    const parts = assignParts(rows, seed)
    const tested = ROTATIONS.flatMap((rotation) => [...rotationSplit(parts, rotation).test])
    expect(tested.sort()).toEqual(
      [...parts]
        .filter(([, part]) => part !== 5)
        .map(([group]) => group)
        .sort(),
    )
  })

  it('validates rotation 4 on part 0 and the final model on part 5', () => {
    const parts = new Map(PARTS.map((part) => [`group-${part}`, part]))
    expect(rotationSplit(parts, 4)).toEqual({
      train: new Set(['group-1', 'group-2', 'group-3', 'group-5']),
      validation: new Set(['group-0']),
      test: new Set(['group-4']),
    })
    expect(rotationSplit(parts, 'final')).toEqual({
      train: new Set(['group-0', 'group-1', 'group-2', 'group-3', 'group-4']),
      validation: new Set(['group-5']),
      test: new Set(),
    })
  })
})
