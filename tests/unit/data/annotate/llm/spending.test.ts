import { fc, test } from '@fast-check/vitest'
import { describe, expect, it } from 'vitest'
import { createCallSlots } from '../../../../../data/annotate/llm/call-slots.ts'
import { createSpending } from '../../../../../data/annotate/llm/spending.ts'

describe('a budget', () => {
  it('lets a call wait for those under way, and stops at one that could pass it alone', async () => {
    const spending = createSpending(10, 1)
    expect(await spending.reserve(6)).toBe(true)
    let second: boolean | null = null
    const waiting = spending.reserve(6).then((allowed) => {
      second = allowed
    })
    await Promise.resolve()
    expect(second).toBeNull()
    spending.settle(6, 2)
    await waiting
    expect(second).toBe(true)
    spending.settle(6, 6)
    expect(spending.spentUsd()).toBe(9)
    expect(await spending.reserve(2)).toBe(false)
    expect(spending.exhausted()).toBe(true)
    expect(await spending.reserve(0.1)).toBe(false)
  })

  test.prop([fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 })), { maxLength: 30 })])(
    'is never passed, whatever calls cost up to their worst',
    async (calls) => {
      const spending = createSpending(20, 0)
      const work = calls.map(async ([worst, part]) => {
        if (!(await spending.reserve(worst))) return
        await new Promise((resolve) => setImmediate(resolve))
        spending.settle(worst, Math.min(worst, part))
      })
      await Promise.all(work)
      expect(spending.spentUsd()).toBeLessThanOrEqual(20)
    },
  )

  it('that is none stops nothing', async () => {
    expect(await createSpending(null, 0).reserve(1e9)).toBe(true)
  })
})

describe('call slots', () => {
  it('are given to the earliest run first, and no more than there are', async () => {
    const slots = createCallSlots(2)
    const order: string[] = []
    const release = await Promise.all([slots.take(5), slots.take(5)])
    const waiting = [
      ['late', 9],
      ['first', 0],
      ['second', 0],
    ] as const
    const taken = waiting.map(async ([name, rank]) => {
      const free = await slots.take(rank)
      order.push(name)
      free()
      free()
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(order).toEqual([])
    release[0]?.()
    await Promise.all(taken)
    expect(order).toEqual(['first', 'second', 'late'])
  })
})
