import { expect, it } from 'vitest'
import { createRng } from '../../../src/rng.ts'
import { dropoutMask } from '../../../training/dropout-mask.ts'

it('drops the asked share, keeps the expectation, and is seeded', () => {
  const mask = dropoutMask(99_999, 0.3, createRng(4))
  expect(new Set(mask)).toEqual(new Set([0, Math.fround(1 / 0.7)]))
  const dropped = mask.filter((value) => value === 0).length / mask.length
  // 4 standard deviations of a binomial share.
  expect(Math.abs(dropped - 0.3)).toBeLessThan(4 * Math.sqrt((0.3 * 0.7) / mask.length))
  expect(dropoutMask(99_999, 0.3, createRng(4))).toEqual(mask)
})
